//! What deciding an event needs of `tollgate.toml`, checked and as JSON: one small file for each
//! project in the person's state directory. To parse and merge the sources takes longer than all the
//! rest of an event.
//!
//! It counts for the texts that it was made from and for this version of the program. The event that
//! finds another one compiles the sources and replaces it.

use std::io;
use std::path::Path;

use serde_json::json;
use tollgate_core::env::Env;
use tollgate_core::project::{Layout, real};
use tollgate_store::fs::{self, Durability};
use tollgate_store::json::Object;

use super::{Merged, Texts, workflow};
use crate::hash::digest;
use crate::user_store;

/// None is larger.
const CAP: u64 = 1 << 20;

/// The same as [`workflow::as_json`], from the compiled file.
pub(crate) fn workflows(layout: &Layout, env: &Env) -> Result<Option<String>, String> {
    if !layout.config_file().is_file() {
        return Ok(None);
    }
    let texts = Texts::read(layout, env);
    let sources = digest((env!("CARGO_PKG_VERSION"), texts.digest()));
    let root = real(layout.root());
    // Without a place that can be believed, each event compiles.
    let directory = user_store::directory(env, &root, "compiled").ok();
    let file = directory.map(|directory| directory.join(format!("{}.json", digest(&root))));
    let kept = file.as_deref().and_then(|file| read(file, &sources));
    let compile = || {
        let merged = Merged::of(texts, env);
        let is_right = !merged.is_wrong();
        let workflows = workflow::definitions(&merged.or_last_good(layout, env))?;
        let text = json!({ "sources": sources, "workflows": workflows }).to_string();
        if let Some(file) = file.as_deref().filter(|_| is_right) {
            // The next event compiles again; that is no reason to disturb the agent.
            let _unkept = keep(file, &text);
        }
        Ok::<_, String>(text)
    };
    let text = kept.map_or_else(compile, Ok)?;
    let has_any = Object::parse(&text).is_ok_and(|compiled| {
        let workflows = compiled.object("workflows");
        workflows.is_some_and(|workflows| !workflows.is_empty())
    });
    Ok(has_any.then_some(text))
}

/// The file's text, if it was compiled from these sources.
fn read(file: &Path, sources: &str) -> Option<String> {
    let contents = fs::read_own(file, CAP).ok()??;
    let text = String::from_utf8(contents.bytes).ok()?;
    let is_current = Object::parse(&text).ok()?.str("sources")? == sources;
    is_current.then_some(text)
}

fn keep(file: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        fs::private_directory(directory)?;
    }
    fs::replace(file, text.as_bytes(), Durability::Synced).map_err(io::Error::other)
}
