//! On macOS the linker leaves the functions of Node for later.

fn main() {
    napi_build::setup();
}
