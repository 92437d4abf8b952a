//! Sets the size of the stack: templates may nest as deeply as the limits allow, and the usual mebibyte is
//! too little for some published ones.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg=-zstack-size=16777216");
}
