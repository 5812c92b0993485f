//! Real agents, offline, with Tollgate behind their hooks: each plays conversations that a stand-in
//! for its model has written down.

#[cfg(test)]
mod agent;
#[cfg(test)]
#[path = "../it/rules/examples.rs"]
#[expect(
    dead_code,
    reason = "shared with the other tests, which need more of it"
)]
mod examples;
#[cfg(test)]
mod fence;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod measured;
#[cfg(test)]
mod model;
#[cfg(test)]
mod offline;
#[cfg(test)]
#[path = "../it/project.rs"]
#[expect(
    dead_code,
    reason = "shared with the other tests, which need more of it"
)]
mod project;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
#[path = "../it/watchdog.rs"]
mod watchdog;

macro_rules! scenarios {
    ($($scenario:ident),* $(,)?) => {
        /// Every scenario, in the order of the page.
        #[cfg(test)]
        const SCENARIOS: [&str; 17] = [$(stringify!($scenario)),*];
        scenarios! { @agent claude Claude $($scenario)* }
        scenarios! { @agent codex Codex $($scenario)* }
        scenarios! { @agent gemini Gemini $($scenario)* }
        scenarios! { @agent copilot Copilot $($scenario)* }
    };
    (@agent $module:ident $agent:ident $($scenario:ident)*) => {
        #[cfg(test)]
        mod $module {
            $(#[test]
            fn $scenario() {
                let test = concat!(stringify!($module), "::", stringify!($scenario));
                let agent = crate::agent::Agent::$agent;
                crate::offline::run(agent, test, || {
                    let measured = crate::scenarios::$scenario(agent);
                    crate::measured::check(agent, stringify!($scenario), &measured);
                });
            })*
        }
    };
}

scenarios! {
    which_events_arrive,
    a_commit_to_main_is_denied,
    a_commit_to_the_workflows_branch_runs,
    a_write_that_turns_the_state_back_is_denied,
    a_state_that_a_script_forged_is_put_back,
    what_a_guard_tells_about_a_test_run,
    eight_calls_at_once_are_all_recorded,
    a_stop_is_blocked_until_the_gate_is_green,
    what_init_and_install_make_holds_until_it_is_verified,
    a_gate_that_stays_red_lets_go,
    an_agent_that_does_nothing_is_let_go,
    a_red_tree_that_nobody_touched_holds_nobody,
    a_question_to_the_person_gets_through_when_asked_again,
    the_plan_loop_runs_four_rounds,
    a_reviewer_of_the_same_kind_is_not_reviewed,
    an_interrupted_session_puts_the_git_hook_aside,
    without_the_program_the_agent_goes_on,
}
