//! The world of an attack: a user's home, a folder that somebody else made, and everything that
//! must stay as it is.

// Not every attack uses everything.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use walkdir::WalkDir;

use crate::folder::CACHE;
use crate::scratch;

/// The longest that a command may take, in a program that is not optimised. Time in which it would
/// compute, but the machine does other work, does not count.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);

/// The most memory that any process of a command may have held, in bytes.
pub(crate) const LARGEST: u64 = 512 << 20;

/// The content of a file outside of the attacked folder: nobody may see it.
pub(crate) const CANARY: &str = "canary-of-the-user-3f9a";

/// The values of the user's secrets. No program, no server and no output may have them.
pub(crate) const SECRETS: [(&str, &str); 3] = [
    ("ROLECALL_API_KEY", "secret-key-8e21"),
    ("HF_TOKEN", "hf_secretToken5b77"),
    ("AWS_SECRET_ACCESS_KEY", "secret-aws-90c4"),
];

/// The name of the variable by which the processes of a world are found again.
const MARK: &str = "ROLECALL_ATTACK";

/// A user's machine: `home`, `work` with what somebody else made, and `outside`.
pub(crate) struct World {
    root: TempDir,
    mark: String,
    variables: BTreeMap<String, String>,
    longest: Duration,
}

/// How a command ended, and what it did.
pub(crate) struct Seen {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None` if it had to be ended.
    status: Option<ExitStatus>,
    elapsed: Duration,
    longest: Duration,
    /// The most memory that one of its processes held, in bytes.
    largest: u64,
    /// Command lines of processes that were still there.
    left: Vec<String>,
    changes: Vec<String>,
    drafts: Vec<PathBuf>,
    /// Files that commands of an attacker would have made.
    marks: Vec<String>,
}

impl World {
    pub(crate) fn new() -> World {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let root = scratch::folder();
        let mark = format!(
            "{}-{}",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        for folder in ["home", "work", "outside", "marks"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let world = World {
            root,
            mark,
            variables: BTreeMap::new(),
            longest: LONGEST,
        };
        world.write("outside/secret.json", CANARY);
        world.write("outside/secret.jinja", CANARY);
        world
    }

    /// A path in the world, such as `work/rolecall.toml`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes a program that can be started.
    pub(crate) fn write_program(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Makes a symbolic link in the world: `to` is written into it as it is.
    pub(crate) fn link(&self, name: &str, to: impl AsRef<Path>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, path).unwrap();
    }

    /// A command of the shell that shows that it ran: afterwards, [`Seen::marks`] has the name.
    pub(crate) fn touch(&self, name: &str) -> String {
        format!("touch {}", self.path("marks").join(name).display())
    }

    /// Sets a variable of the environment for all commands.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> &mut World {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Runs `rolecall` in the folder `work`.
    pub(crate) fn rolecall(&self, arguments: &[&str]) -> Seen {
        self.rolecall_in("work", arguments, b"")
    }

    /// Runs `rolecall` in a folder of the world, with a text on its standard input.
    pub(crate) fn rolecall_in(&self, folder: &str, arguments: &[&str], input: &[u8]) -> Seen {
        let before = self.outside();
        // A process that is left behind would keep a pipe open. So the streams are files.
        let streams = scratch::folder();
        let stream = |name: &str| streams.path().join(name);
        fs::write(stream("in"), input).unwrap();
        let mut child = self
            .command(folder, arguments)
            .stdin(File::open(stream("in")).unwrap())
            .stdout(File::create(stream("out")).unwrap())
            .stderr(File::create(stream("err")).unwrap())
            .spawn()
            .unwrap();
        let (status, largest, elapsed) = self.wait(&mut child);
        let read = |name: &str| String::from_utf8_lossy(&fs::read(stream(name)).unwrap()).into();
        Seen {
            stdout: read("out"),
            stderr: read("err"),
            status,
            elapsed,
            longest: self.longest,
            largest,
            left: self.leftovers(),
            changes: changes(&before, &self.outside()),
            drafts: drafts(self.root.path()),
            marks: names(&self.path("marks")),
        }
    }

    /// The command, with the world's environment and nothing of this process's own.
    pub(crate) fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolecall-checkout"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("ROLECALL_CACHE", CACHE)
            .env(MARK, &self.mark)
            .envs(SECRETS)
            .envs(&self.variables)
            .args(arguments)
            .current_dir(self.path(folder));
        command
    }

    /// Waits for the end of a command. One that takes much too long is ended.
    fn wait(&self, child: &mut Child) -> (Option<ExitStatus>, u64, Duration) {
        let mut largest = 0;
        let mut stopwatch = Stopwatch::start();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return (Some(status), largest, stopwatch.elapsed());
            }
            largest = largest.max(largest_of(child.id()));
            stopwatch.look(child.id());
            if stopwatch.elapsed() > self.longest * 2 || largest > LARGEST * 4 {
                child.kill().unwrap();
                child.wait().unwrap();
                return (None, largest, stopwatch.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The processes of this world that still run, shortly after the command ended. Ends them.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        for _ in 0..40 {
            if self.processes().is_empty() {
                return Vec::new();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let left = self.processes();
        for (pid, _) in &left {
            let _ = Command::new("kill").args(["-9", pid]).status();
        }
        left.into_iter().map(|(_, words)| words).collect()
    }

    /// How many processes of this world run.
    pub(crate) fn count_processes(&self) -> usize {
        self.processes().len()
    }

    /// The processes whose environment has the world's mark, and their command lines.
    fn processes(&self) -> Vec<(String, String)> {
        let mark = format!("{MARK}={}\0", self.mark);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = entry.file_name().to_string_lossy().into_owned();
            let is_ours = fs::read(entry.path().join("environ"))
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&mark));
            if is_ours {
                let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                found.push((pid, words));
            }
        }
        found
    }

    /// All files outside of the attacked folder, and their content.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in WalkDir::new(self.path("outside")).into_iter().flatten() {
            let content = if entry.file_type().is_file() {
                fs::read(entry.path()).unwrap_or_default()
            } else {
                Vec::new()
            };
            files.insert(entry.path().to_path_buf(), content);
        }
        files
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.leftovers();
    }
}

impl Seen {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// The names of the files that commands of an attacker have made.
    pub(crate) fn marks(&self) -> &[String] {
        &self.marks
    }

    /// Everything that the command printed.
    pub(crate) fn printed(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Fails unless the attack ended well and with one of these exit codes.
    #[track_caller]
    pub(crate) fn is_well(&self, codes: &[i32]) -> &Seen {
        let complaints = self.complaints(codes);
        assert!(
            complaints.is_empty(),
            "{}\n--- standard output\n{}\n--- standard error\n{}",
            complaints.join("\n"),
            excerpt(&self.stdout),
            excerpt(&self.stderr)
        );
        self
    }

    /// Fails unless these words were printed.
    #[track_caller]
    pub(crate) fn says(&self, expected: &[&str]) -> &Seen {
        crate::folder::has(&self.printed(), expected);
        self
    }

    /// What is wrong with the end of an attack.
    pub(crate) fn complaints(&self, codes: &[i32]) -> Vec<String> {
        let mut all = Vec::new();
        let printed = self.printed();
        match self.status {
            None => all.push(format!("did not end within {:?}", self.longest * 2)),
            Some(status) => match status.code() {
                None => all.push(format!("died by signal {:?}", status.signal())),
                Some(code) if !codes.contains(&code) => {
                    all.push(format!("exit code {code}, not {codes:?}"));
                }
                Some(_) => {}
            },
        }
        if self.elapsed > self.longest {
            all.push(format!("took {:?}", self.elapsed));
        }
        if self.largest > LARGEST {
            all.push(format!("held {} MiB", self.largest >> 20));
        }
        if printed.contains("panicked at") || printed.contains("RUST_BACKTRACE") {
            all.push("panicked".to_owned());
        }
        if let Some(c) = printed.chars().find(|c| is_obeyed(*c)) {
            all.push(format!(
                "printed U+{:04X}, which a terminal obeys",
                u32::from(c)
            ));
        }
        if let Some(line) = printed.split(['\n', '\r']).find(|line| is_command(line)) {
            let line: String = line.chars().take(200).collect();
            all.push(format!("printed {line:?}, which GitHub's runner obeys"));
        }
        for secret in SECRETS.iter().map(|(_, value)| *value).chain([CANARY]) {
            if printed.contains(secret) {
                all.push(format!("printed {secret}"));
            }
        }
        all.extend(
            self.left
                .iter()
                .map(|words| format!("left a process: {words}")),
        );
        all.extend(self.changes.iter().map(|path| format!("changed {path}")));
        all.extend(
            self.drafts
                .iter()
                .map(|path| format!("left {}", path.display())),
        );
        all.extend(
            self.marks
                .iter()
                .map(|name| format!("ran the command `{name}`")),
        );
        all
    }
}

/// Whether a terminal obeys a character, or shows a text in another order because of it.
fn is_obeyed(c: char) -> bool {
    let is_bidirectional = matches!(
        c,
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    );
    (c.is_control() && c != '\n' && c != '\t') || is_bidirectional
}

/// Whether GitHub's runner obeys a line of a log, by the rules of its `ActionCommand.cs`. The
/// annotations of reports have a title, which no attack has.
pub(crate) fn is_command(line: &str) -> bool {
    const REGISTERED: [&str; 15] = [
        "add-mask",
        "add-matcher",
        "add-path",
        "debug",
        "echo",
        "endgroup",
        "error",
        "group",
        "notice",
        "remove-matcher",
        "save-state",
        "set-env",
        "set-output",
        "stop-commands",
        "warning",
    ];
    let is_registered = |info: &str| {
        let name = info.split(' ').next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        REGISTERED.contains(&name.as_str())
    };
    let after_space = line.trim_start().strip_prefix("::");
    let second = after_space.and_then(|rest| rest.split_once("::"));
    let is_second = second.is_some_and(|(info, _)| is_registered(info));
    let is_own = second.is_some_and(|(info, _)| info.contains("title="));
    let first = line
        .split_once("##[")
        .and_then(|(_, rest)| rest.split_once(']'));
    !is_own && (is_second || first.is_some_and(|(info, _)| is_registered(info)))
}

/// The beginning of a text, with what a terminal would obey written out.
fn excerpt(text: &str) -> String {
    let shown: String = text.chars().take(4000).collect();
    let mut out = String::new();
    for c in shown.chars() {
        if is_obeyed(c) {
            let _ = write!(out, "⟦U+{:04X}⟧", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Measures how long a process takes: its computing time, and the time in which it waits. On a busy
/// machine it is often ready to compute and has to wait for a processor, which is not its fault.
#[derive(Debug)]
struct Stopwatch {
    start: Instant,
    last: Instant,
    /// The computing time of all its threads.
    computed: Duration,
    /// The time in which none of its threads wanted to compute.
    waited: Duration,
}

impl Stopwatch {
    fn start() -> Stopwatch {
        let start = Instant::now();
        Stopwatch {
            start,
            last: start,
            computed: Duration::ZERO,
            waited: Duration::ZERO,
        }
    }

    /// Looks at what the process does now.
    fn look(&mut self, pid: u32) {
        let now = Instant::now();
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let tasks = fs::read_dir(folder.join("task"));
        let mut tasks = tasks.into_iter().flatten().flatten();
        let is_busy = tasks.any(|task| {
            let fields = stat_of(&task.path());
            fields.is_some_and(|fields| matches!(fields[0].as_str(), "R" | "D"))
        });
        if !is_busy {
            self.waited += now - self.last;
        }
        self.last = now;
        if let Some(fields) = stat_of(&folder) {
            // Its own time and that of its children, in hundredths of a second.
            let ticks = fields[11..15]
                .iter()
                .filter_map(|one| one.parse::<u64>().ok());
            self.computed = Duration::from_millis(ticks.sum::<u64>() * 10);
        }
    }

    /// How long it took, without the time in which it only wanted to compute. Threads compute side
    /// by side, so this is never more than what a clock on the wall says.
    fn elapsed(&self) -> Duration {
        (self.computed + self.waited).min(self.start.elapsed())
    }
}

/// What Linux says of a process or a thread, from its state on.
fn stat_of(folder: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(folder.join("stat")).ok()?;
    // Its name, in brackets, may have spaces and brackets.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<String> = fields.split_whitespace().map(str::to_owned).collect();
    (fields.len() > 15).then_some(fields)
}

/// The most memory that a process and the processes below it hold, in bytes: the largest of them.
fn largest_of(pid: u32) -> u64 {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    // Before it becomes another program, a new process is a copy of this one.
    let program = |path: &Path| fs::read_link(path.join("exe")).ok();
    if program(&folder) == program(Path::new("/proc/self")) {
        return 0;
    }
    let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let own = peak
        .and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .map_or(0, |kib| kib << 10);
    let children = fs::read_to_string(folder.join(format!("task/{pid}/children")));
    let below = children.unwrap_or_default();
    let below = below.split_whitespace().filter_map(|pid| pid.parse().ok());
    below.map(largest_of).max().unwrap_or(0).max(own)
}

fn changes(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let all = before.keys().chain(after.keys());
    let changed: BTreeSet<_> = all
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    changed
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

/// Unfinished files that nobody will ever finish.
fn drafts(root: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(root).into_iter().flatten();
    let paths = entries.map(walkdir::DirEntry::into_path);
    paths
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".draft") || name.starts_with(".suite-")
        })
        .collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The time in which a command computes or waits counts. The time in which it stands still, because
/// the machine does other work, does not. No figure here depends on how busy the machine is: each
/// command runs until enough was counted.
#[test]
#[ignore = "long: .ci/nightly tries it"]
fn time_counts_while_a_command_computes_or_waits() {
    const ENOUGH: Duration = Duration::from_millis(100);
    let counted = |mut children: Vec<Child>| -> Vec<Stopwatch> {
        let watch = |child: &Child| (child.id(), Stopwatch::start());
        let mut watched: Vec<(u32, Stopwatch)> = children.iter().map(watch).collect();
        let patience = Instant::now();
        while watched.iter().any(|(_, one)| one.elapsed() < ENOUGH) {
            assert!(
                patience.elapsed() < Duration::from_mins(5),
                "nothing counts"
            );
            std::thread::sleep(Duration::from_millis(5));
            for (pid, stopwatch) in &mut watched {
                stopwatch.look(*pid);
            }
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        watched
            .into_iter()
            .map(|(_, stopwatch)| stopwatch)
            .collect()
    };
    let start = |script: &str| Command::new("sh").args(["-c", script]).spawn().unwrap();
    let waits = counted(vec![start("exec sleep 600")]);
    assert!(waits[0].waited > waits[0].computed, "{waits:?}");

    // As many at a time as need four times the processors.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let all = counted(
        (0..4 * cores)
            .map(|_| start("while :; do :; done"))
            .collect(),
    );
    let took: Duration = all.iter().map(Stopwatch::elapsed).sum();
    let by_the_wall: Duration = all.iter().map(|one| one.start.elapsed()).sum();
    assert!(
        took < by_the_wall * 2 / 3,
        "{took:?} of {by_the_wall:?}: {all:?}"
    );
}
