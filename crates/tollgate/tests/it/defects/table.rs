//! Every defect of facts §5.1, §5.2 and §6, and the tests that fail if it is put back.

use crate::structure::tests;

/// Ids of a defect, and the names of its tests, wherever they are in the workspace.
const DEFECTS: &[(&str, &[&str])] = &[
    // §5.1: enforcement that was silently off.
    (
        "D1",
        &[
            "d1_an_edit_is_applied_in_memory_before_the_write",
            "bug_0011_a_subagent_does_not_overwrite_index_or_status",
        ],
    ),
    (
        "D2",
        &[
            "d2_setup_words_in_the_text_hide_no_delegation",
            "d2_a_setup_word_counts_only_as_the_command_itself",
            "d2_setup_words_inside_the_text_switch_nothing_off",
        ],
    ),
    (
        "D3",
        &[
            "d3_how_a_command_ended_is_read_from_every_agents_words",
            "d3_failures_of_todays_claude_code_are_failures",
            "d3_the_agents_own_result_field_is_read",
        ],
    ),
    (
        "D4",
        &[
            "d4_it_runs_on_every_task_without_a_workflow_and_under_every_name",
            "d4_all_guards_of_a_task_run_whatever_the_workflow",
        ],
    ),
    ("D5", &["d5_every_field_that_tells_the_beginning_is_seen"]),
    (
        "D6",
        &[
            "d6_a_missing_entry_is_not_satisfied",
            "d6_a_workflow_that_is_over_has_no_gate_to_open",
        ],
    ),
    ("D7", &["d7_gh_209_completed_by_word_alone_is_no_evidence"]),
    (
        "D8",
        &["d8_the_phases_agent_must_have_worked_and_in_progress_proves_nothing"],
    ),
    (
        "D9",
        &[
            "d9_overrides_are_merged_deep_and_arrays_replaced",
            "d9_and_ts008_phases_are_found_by_every_name",
            "d9_overrides_are_merged_deep",
            "d9_the_workflows_overrides_are_seen",
        ],
    ),
    ("D10", &["d10_the_timeouts_in_settings_are_seconds"]),
    // §5.2: false blocks.
    (
        "F1",
        &[
            "f1_changes_count_before_they_are_committed",
            "f1_work_in_the_phase_is_never_blocked",
        ],
    ),
    (
        "F2",
        &[
            "f2_words_that_look_like_phases_are_none",
            "f2_an_agents_name_in_somebody_elses_prompt_is_none",
        ],
    ),
    (
        "F3",
        &[
            "f3_the_upgrade_engineer_may_upgrade",
            "f3_a_family_key_stands_for_its_members",
        ],
    ),
    (
        "F4",
        &["f4_commits_are_recognised_by_what_runs_not_by_letters"],
    ),
    (
        "F5, GH-276",
        &[
            "gh_276_f5_reading_is_fine",
            "f5_routes_that_the_letters_do_not_show",
        ],
    ),
    (
        "F6",
        &[
            "f6_ts008_state_under_an_old_key_counts",
            "f6_a_phase_is_found_under_its_old_name",
        ],
    ),
    (
        "F7, BUG-0031, GH-65",
        &[
            "gh_65_bug_0031_f7_the_first_word_that_is_no_flag_is_the_verb",
            "gh_65_bug_0031_f7_the_verb_decides_not_the_words",
        ],
    ),
    (
        "F8",
        &[
            "f8_between_two_phases_the_index_is_one_ahead",
            "f8_one_index_ahead_is_the_way_from_phase_to_phase",
        ],
    ),
    ("F9", &["f9_a_redo_needs_its_marker_on_disk"]),
    (
        "F10",
        &[
            "f10_prose_about_selecting_is_no_choice",
            "f10_only_a_bracketed_letter_or_an_explicit_selection_is_a_choice",
        ],
    ),
    (
        "F11",
        &[
            "f11_commands_that_only_name_a_runner_are_no_test_runs",
            "f11_passing_runs_of_every_runner_pass_without_an_exit_code",
            "f11_failing_runs_of_every_runner_fail_without_an_exit_code",
        ],
    ),
    // §6.1: state and order.
    (
        "BUG-0005",
        &[
            "bug_0005_ts006_ac_004f_the_workflows_phase_counts",
            "bug_0005_ts006_the_workflows_phase_counts",
            "bug_0005_tasks_are_ticked_and_other_lines_stay",
        ],
    ),
    (
        "BUG-0006",
        &["bug_0006_a_phase_is_in_progress_before_anybody_works_in_it"],
    ),
    (
        "BUG-0009",
        &["bug_0009_an_agent_that_holds_an_old_copy_does_not_turn_back_the_workflow"],
    ),
    (
        "BUG-0011",
        &["bug_0011_a_subagent_does_not_overwrite_index_or_status"],
    ),
    (
        "BUG-0017/0.10",
        &["bug_0017_0_10_an_unversioned_write_does_not_replace_a_versioned_state"],
    ),
    (
        "BUG-0007/0.3",
        &["bug_0007_0_3_what_is_no_object_does_not_become_the_state"],
    ),
    (
        "BUG-0004, GH-39",
        &[
            "bug_0004_long_lists_are_pruned",
            "gh_39_a_finished_workflow_is_archived_and_its_phases_are_not_carried_over",
        ],
    ),
    (
        "INV-0055, GH-55",
        &[
            "inv_0055_gh_55_both_records_of_a_phase_are_guarded_and_a_redo_is_let_through",
            "v9_warns_about_fields_that_contradict_each_other",
            "a_phase_that_was_left_alone_is_stale_and_has_three_ways_on",
        ],
    ),
    (
        "BUG-0016 (scope), GH-60",
        &["bug_0016_gh_60_a_start_is_the_start_of_one_phase"],
    ),
    (
        "BUG-0014",
        &["bug_0014_the_branch_is_there_before_the_first_phase_writes"],
    ),
    (
        "BUG-0010 (finalize)",
        &["bug_0010_a_finished_workflow_leaves_nothing_behind_that_looks_alive"],
    ),
    (
        "BUG-0002, BUG-0003",
        &["bug_0002_bug_0003_the_next_workflow_has_the_next_number"],
    ),
    (
        "open: writes at the same time",
        &["r25_eight_tasks_that_end_together_leave_eight_entries"],
    ),
    (
        "open: a crash in the middle of a write",
        &["a_killed_command_leaves_the_old_state_or_the_new_one"],
    ),
    // §6.2: false blocks.
    (
        "BUG-0008",
        &[
            "bug_0008_ac_004d_delegating_the_phase_is_no_attempt",
            "bug_0008_delegating_a_phase_does_not_call_it_complete",
            "bug_0008_delegating_the_phase_is_no_attempt_to_leave_it",
        ],
    ),
    (
        "BUG-0013",
        &[
            "bug_0013_helpers_of_the_current_phase_are_let_through",
            "r2_a_sub_agent_may_ask_helpers_of_its_own_phase",
        ],
    ),
    (
        "BUG-0006/0.7",
        &["bug_0006_0_7_the_quality_loop_is_no_upgrade"],
    ),
    (
        "BUG-0015",
        &["bug_0015_a_merged_and_deleted_branch_no_longer_guards_main"],
    ),
    (
        "BUG-0016 (guard)",
        &["bug_0016_a_script_that_only_reads_is_fine"],
    ),
    (
        "BUG-0020, GH-4, BUG-0010, GH-16",
        &[
            "bug_0020_gh_4_bug_0010_gh_16_artifact_paths_go_before_the_inline_ones",
            "bug_0020_gh_4_an_override_can_switch_the_check_off",
        ],
    ),
    (
        "BUG-0007 (test-watcher)",
        &[
            "bug_0007_test_watcher_unreadable_results_never_trip_the_breaker",
            "bug_0007_test_watcher_what_is_not_known_is_no_failure",
        ],
    ),
    (
        "BUG-0021, GH-5",
        &[
            "bug_0021_gh_5_rule_3_verbs_that_the_agent_does_itself",
            "bug_0021_inline_verbs_and_other_skills_owe_nothing",
        ],
    ),
    ("GH-62", &["gh_62_rule_2_an_old_marker_is_cleared"]),
    (
        "7f04d505, 3ffdbf48",
        &["parallel_sessions_02_22_7f04d505_3ffdbf48_a_running_workflow_is_not_held_by_a_marker"],
    ),
    (
        "d63d0b53",
        &["d63d0b53_ac_004e_setup_commands_are_never_blocked"],
    ),
    (
        "02-04, 02-05, 02-09: renumbered phases",
        &["renumbering_02_04_ts008_an_old_phase_key_is_the_same_phase"],
    ),
    // §6.3: bypasses.
    (
        "BUG-0007/0.1",
        &["bug_0007_0_1_a_completed_phase_status_opens_nothing"],
    ),
    (
        "BUG-0008/0.4",
        &["bug_0008_0_4_what_is_no_place_in_the_list_is_not_compared"],
    ),
    (
        "BUG-0008/0.5",
        &["bug_0008_0_5_empty_definitions_switch_no_requirement_off"],
    ),
    (
        "BUG-0008/0.8",
        &["bug_0008_0_8_ts014_a_supervised_review_holds_the_gate"],
    ),
    (
        "BUG-0012",
        &["bug_0012_nobody_commits_in_the_middle_of_a_workflow"],
    ),
    (
        "BUG-0019, GH-1",
        &["gh_1_bug_0019_a_deferral_needs_a_reason"],
    ),
    (
        "BUG-0055, GH-127",
        &[
            "gh_127_bug_0055_four_columns_count_and_no_rows_are_told",
            "gh_127_rows_are_read_whatever_columns_there_are",
        ],
    ),
    (
        "BUG-0054, GH-52",
        &["bug_0054_gh_52_coverage_may_depend_on_the_size_of_the_work"],
    ),
    (
        "BUG-0057, GH-209",
        &[
            "bug_0057_saying_completed_is_no_evidence",
            "bug_0057_gh_209_a_pass_that_shows_no_coverage_says_so",
            "d7_gh_209_completed_by_word_alone_is_no_evidence",
        ],
    ),
    (
        "BUG-0022",
        &["bug_0022_a_phase_does_not_pass_with_a_broken_build"],
    ),
    (
        "BUG-0028, GH-64",
        &["bug_0028_gh_64_a_blocked_commit_is_not_executed_in_part"],
    ),
    // §6.4: robustness and messages.
    (
        "BUG-0006/0.6",
        &["bug_0006_0_6_configuration_of_another_kind_hides_nothing"],
    ),
    (
        "BUG-0006/0.11",
        &["bug_0006_0_11_a_record_of_another_kind_is_replaced_and_noted"],
    ),
    (
        "BUG-0006/0.12",
        &["bug_0006_0_12_the_warning_says_what_to_do_and_never_blocks"],
    ),
    (
        "BUG-0017/0.9",
        &["bug_0017_0_9_every_name_of_a_document_is_told_and_any_is_enough"],
    ),
    (
        "BUG-0009 (batch d)",
        &["bug_0009_batch_d_null_is_nothing_everywhere"],
    ),
    (
        "431006b3",
        &["r20_431006b3_what_cannot_be_read_lets_the_agent_stop"],
    ),
    (
        "BUG-0027, BUG-0035",
        &["bug_0027_bug_0035_skills_are_listed_in_both_shapes"],
    ),
    (
        "BUG-0051",
        &["bug_0051_nothing_is_left_out_of_a_workflow_unasked"],
    ),
    (
        "BUG-0029",
        &["bug_0029_a_command_of_several_lines_is_read_as_a_whole"],
    ),
    // Of the backlog that BUG-0034 is about there is none here; of finalizing and of the
    // dashboard there are.
    (
        "BUG-0033, BUG-0034, GH-277",
        &["bug_0033_bug_0034_gh_277_an_ended_workflow_is_over_in_every_view"],
    ),
    // §6.5: what the study found besides.
    ("R2", &["r2_a_sub_agent_may_ask_helpers_of_its_own_phase"]),
    (
        "R24",
        &[
            "r24_a_version_in_quotes_is_no_version",
            "r24_an_index_in_quotes_is_no_index",
            "r24_a_workflow_cannot_just_vanish",
        ],
    ),
    (
        "R25",
        &["r25_eight_tasks_that_end_together_leave_eight_entries"],
    ),
    (
        "R26",
        &[
            "r26_a_branch_name_is_never_a_command_or_an_option",
            "e5_a_branch_name_is_never_run",
        ],
    ),
    ("R28", &["r28_contradictions_are_told_without_phases_too"]),
    (
        "R31",
        &["r31_a_monorepos_documents_are_found_where_its_projects_keep_them"],
    ),
];

#[test]
fn every_defect_has_its_tests() {
    let found = tests();
    for (defect, names) in DEFECTS {
        assert!(!names.is_empty(), "{defect} has no test");
        for name in *names {
            assert!(
                found.iter().any(|test| test.name == *name),
                "{defect}: there is no test {name}"
            );
        }
    }
    // D1 to D10 and F1 to F11 are all there.
    for id in (1..=10)
        .map(|n| format!("D{n}"))
        .chain((1..=11).map(|n| format!("F{n}")))
    {
        let is_it = |ids: &str| ids.split(", ").any(|one| one == id);
        assert!(
            DEFECTS.iter().any(|(ids, _)| is_it(ids)),
            "{id} is in no row"
        );
    }
}
