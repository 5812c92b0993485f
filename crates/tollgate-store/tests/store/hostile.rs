//! Disks that are full, directories that may not be written, and things in the file's place.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use jiff::Timestamp;
use rustix::fs::{CWD, FileType, Mode};
use tollgate_store::document::InTheWay;
use tollgate_store::fs::{Durability, FileKind, ReadFault};
use tollgate_store::store::{STATE_CAP, StoreError, UpdateError};

use crate::{Project, Worker, state_path};

fn update(project: &Project) -> Result<u64, StoreError> {
    let result = project.store().update(Timestamp::now(), |document| {
        document.add(&["n"], 1)?;
        Ok::<_, InTheWay>(Durability::Lazy)
    });
    match result {
        Ok(updated) => Ok(updated.version),
        Err(UpdateError::Store(error)) => Err(error),
        Err(UpdateError::Refused(error)) => panic!("{error}"),
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Gives the project to a user without rights, if we are root, and starts a worker as that user.
fn powerless(project: &Project, order: &str) -> Worker {
    let mut command = Command::new(std::env::current_exe().unwrap());
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    Worker::start(command, &project.root, order)
}

fn give_away(path: &Path) {
    if rustix::process::geteuid().is_root() {
        chown(path, Some(65534), Some(65534)).unwrap();
        for entry in path.read_dir().into_iter().flatten() {
            give_away(&entry.unwrap().path());
        }
    }
}

/// E11: a full disk destroyed the state.
#[test]
fn e11_a_full_disk_leaves_the_old_state_and_no_rubbish() {
    let project = Project::new();
    let before = std::fs::read(state_path(&project.root)).unwrap();
    // 20 KB fit, the 50 KB of the new state do not; EFBIG instead of ENOSPC, but the same way.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap());
    let said = Worker::start(command, &project.root, "try").succeeds();
    assert!(
        said[0].starts_with("failed") && said[0].contains("old one is still there"),
        "{said:?}"
    );
    assert_eq!(std::fs::read(state_path(&project.root)).unwrap(), before);
    assert!(project.temporaries().is_empty());
    assert_eq!(project.worker("try").succeeds(), ["wrote 101"]);
}

#[test]
fn a_directory_that_may_not_be_written_leaves_the_old_state() {
    let project = Project::new();
    update(&project).unwrap();
    let before = std::fs::read(state_path(&project.root)).unwrap();
    give_away(&project.root);
    set_mode(&project.root.join(".isdlc"), 0o500);
    let said = powerless(&project, "try").succeeds();
    assert!(said[0].contains("renaming failed"), "{said:?}");
    set_mode(&project.root.join("home"), 0o500);
    let said = powerless(&project, "try").succeeds();
    assert!(said[0].contains("temporary file failed"), "{said:?}");
    assert_eq!(std::fs::read(state_path(&project.root)).unwrap(), before);
    set_mode(&project.root.join("home"), 0o700);
    set_mode(&project.root.join(".isdlc"), 0o700);
    assert_eq!(powerless(&project, "try").succeeds(), ["wrote 102"]);
}

#[test]
fn a_state_that_may_not_be_read_is_not_absent() {
    let project = Project::new();
    give_away(&project.root);
    set_mode(&state_path(&project.root), 0o000);
    let said = powerless(&project, "try").succeeds();
    assert!(said[0].contains("cannot be read"), "{said:?}");
    assert_eq!(state_path(&project.root).metadata().unwrap().len(), {
        set_mode(&state_path(&project.root), 0o600);
        std::fs::read(state_path(&project.root)).unwrap().len() as u64
    });
}

#[test]
fn whatever_the_umask_our_files_are_private_and_theirs_keep_their_mode() {
    for umask in ["000", "077", "777"] {
        let project = Project::new();
        set_mode(&state_path(&project.root), 0o664);
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap());
        let said = Worker::start(command, &project.root, "try").succeeds();
        assert_eq!(said, ["wrote 101"]);
        let mode = |name: &str| project.root.join(name).metadata().unwrap().mode() & 0o7777;
        assert_eq!(mode(".isdlc/state.json"), 0o664);
        assert_eq!(mode("home"), 0o700);
        if umask != "777" {
            assert_eq!(mode("home/lock"), 0o600);
            assert_eq!(mode("home/.gitignore"), 0o600);
        }
    }
}

#[test]
fn what_is_no_regular_file_is_refused_at_once_and_left_alone() {
    type Plant = fn(&Path);
    let plant: [(FileKind, Plant); 5] = [
        (FileKind::Fifo, |path| {
            rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        }),
        (FileKind::Directory, |path| {
            std::fs::create_dir(path).unwrap();
        }),
        (FileKind::Symlink, |path| {
            std::fs::write(path.with_file_name("target"), "{}").unwrap();
            symlink("target", path).unwrap();
        }),
        (FileKind::Symlink, |path| symlink("nowhere", path).unwrap()),
        (FileKind::Symlink, |path| {
            symlink("/dev/zero", path).unwrap();
        }),
    ];
    for (kind, plant) in plant {
        let project = Project::new();
        let path = state_path(&project.root);
        std::fs::remove_file(&path).unwrap();
        plant(&path);
        let before = path.symlink_metadata().unwrap();
        let start = Instant::now();
        match update(&project) {
            Err(StoreError::Unreadable {
                fault: ReadFault::NotRegular(found),
                ..
            }) => assert_eq!(found, kind),
            other => panic!("{kind}: {other:?}"),
        }
        assert!(start.elapsed().as_secs() < 2);
        let after = path.symlink_metadata().unwrap();
        assert_eq!((before.ino(), before.mode()), (after.ino(), after.mode()));
        let target = path.with_file_name("target");
        if target.exists() {
            assert_eq!(std::fs::read(target).unwrap(), b"{}");
        }
    }
}

#[test]
fn a_state_beyond_the_cap_is_refused() {
    let project = Project::new();
    let path = state_path(&project.root);
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(STATE_CAP + 1).unwrap();
    assert!(matches!(
        update(&project),
        Err(StoreError::Unreadable {
            fault: ReadFault::TooLarge { .. },
            ..
        })
    ));
    assert_eq!(path.metadata().unwrap().len(), STATE_CAP + 1);
}

#[test]
fn a_hard_link_elsewhere_is_not_written_through() {
    let project = Project::new();
    let elsewhere = project.root.join("elsewhere");
    std::fs::hard_link(state_path(&project.root), &elsewhere).unwrap();
    let before = std::fs::read(&elsewhere).unwrap();
    update(&project).unwrap();
    assert_eq!(std::fs::read(&elsewhere).unwrap(), before);
    assert_eq!(project.number("n"), 1);
}

#[test]
fn a_home_that_is_a_link_to_nowhere_or_a_file_is_an_error() {
    for plant in [
        (|path| symlink("/proc/nowhere", path).unwrap()) as fn(&Path),
        |path| std::fs::write(path, "").unwrap(),
    ] {
        let project = Project::new();
        plant(&project.root.join("home"));
        assert!(matches!(update(&project), Err(StoreError::Home { .. })));
        assert_eq!(project.number("n"), 0);
    }
}
