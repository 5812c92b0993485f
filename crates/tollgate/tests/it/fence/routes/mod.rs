//! The routes, by class.

mod commands;
mod environment;
mod events;
mod gates;
mod journal;
mod mods;
mod place;
mod program;
mod settings;
mod state;

use super::{Class, End, Route, Step};

pub(super) const CLASSES: &[Class] = &[
    state::CLASS,
    state::CLEAN,
    environment::CLASS,
    settings::CLASS,
    mods::CLASS,
    commands::CLASS,
    events::CLASS,
    program::CLASS,
    place::CLASS,
    gates::CLASS,
    journal::CLASS,
];
