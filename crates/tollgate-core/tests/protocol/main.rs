//! The agents' protocols, from their side: real payloads, and models of what each agent does
//! with an answer. Written from `agent-protocols.md`, which was measured with the real programs.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod host;
#[cfg(test)]
mod neutral;
#[cfg(test)]
mod properties;
