//! The documents that a phase leaves behind.

use std::path::PathBuf;

use crate::json::Node;
use crate::project::{ConfigFile, stays_inside};
use crate::scene::Scene;
use crate::workflow::phases;
use crate::workflow::requirements::Requirements;

/// What is missing, in words. Of the documents in one directory any one is enough: they are
/// names that the same document has had.
pub(super) fn missing(
    scene: &Scene<'_>,
    required: &Requirements<'_>,
    phase: &str,
) -> Option<String> {
    let folder = scene
        .workflow()
        .and_then(|workflow| workflow.str("artifact_folder"));
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    let listed = wanted(scene, required, phase);
    for path in &listed {
        let named = match (path.contains(FOLDER), folder.as_deref()) {
            (true, None) => continue,
            (true, Some(folder)) => path.replace(FOLDER, folder),
            (false, _) => path.clone(),
        };
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        match groups.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, group)) => group.push(named),
            None => groups.push((directory, vec![named])),
        }
    }
    let lacking: Vec<String> = groups
        .iter()
        .filter(|(_, group)| !group.iter().any(|path| exists(scene, path)))
        .filter_map(|(_, group)| {
            let (first, others) = group.split_first()?;
            Some(if others.is_empty() {
                first.clone()
            } else {
                format!("{first} (or {})", others.join(", "))
            })
        })
        .collect();
    (!lacking.is_empty()).then(|| {
        format!(
            "Required artifacts missing: {}. Write them first.",
            lacking.join("; ")
        )
    })
}

const FOLDER: &str = "{artifact_folder}";

/// The paths that `artifact-paths.json` gives the phase, else those of the requirement.
fn wanted(scene: &Scene<'_>, required: &Requirements<'_>, phase: &str) -> Vec<String> {
    let filed = scene
        .config(ConfigFile::ArtifactPaths)
        .and_then(|config| config.object("phases"));
    let paths = filed.and_then(|filed| {
        let entry = phases::spellings(phase).find_map(|key| filed.object(key))?;
        entry.get("paths").and_then(Node::array)
    });
    match paths {
        Some(paths) => paths
            .iter()
            .filter_map(|path| path.str())
            .map(Into::into)
            .collect(),
        None => required.texts("paths"),
    }
}

/// Whether a document is there. What would lead out of the project is not.
fn exists(scene: &Scene<'_>, path: &str) -> bool {
    stays_inside(path) && place(scene, path).is_file()
}

/// `docs/` stands for wherever the project keeps its documents.
fn place(scene: &Scene<'_>, path: &str) -> PathBuf {
    let path = path.trim_start_matches("./");
    match path.strip_prefix("docs/") {
        Some(rest) => scene.docs().join(rest),
        None => scene.layout().root().join(path),
    }
}
