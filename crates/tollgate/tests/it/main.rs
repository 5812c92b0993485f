//! The behaviour of the binary, seen from outside: its standard input and output, its files,
//! real git repositories, real processes. One test binary, so that it links once.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod allow;
#[cfg(test)]
mod armed;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod corpora;
#[cfg(test)]
mod deadline;
#[cfg(test)]
mod defects;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod events;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fence;
#[cfg(test)]
mod gates;
#[cfg(test)]
#[path = "../../../tollgate-core/tests/agreement/generated.rs"]
mod generated;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod init;
#[cfg(test)]
mod install;
#[cfg(test)]
mod integrity;
#[cfg(test)]
mod obedient;
#[cfg(test)]
mod odd_repositories;
#[cfg(test)]
mod outputs;
#[cfg(test)]
mod page;
#[cfg(test)]
mod phase_jump;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod practice;
#[cfg(test)]
mod project;
#[cfg(test)]
mod protocols;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod reads;
#[cfg(test)]
mod recorders;
#[cfg(test)]
mod registrations;
#[cfg(test)]
mod reviews;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod see;
#[cfg(test)]
mod simulate;
#[cfg(test)]
mod spec_000;
#[cfg(test)]
mod spec_004;
#[cfg(test)]
mod status;
#[cfg(test)]
mod stops;
#[cfg(test)]
mod strange_files;
#[cfg(test)]
mod structure;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod unknown_events;
#[cfg(test)]
mod watchdog;
#[cfg(test)]
mod workflow;
#[cfg(test)]
mod worktrees;
