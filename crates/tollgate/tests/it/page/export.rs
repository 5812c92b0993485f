//! The journal at a collector.

use serde_json::{Value, json};

use super::collector::{Collector, Received, check};
use super::states;
use crate::events::{Event as _, bash};
use crate::project::{Run, TestProject};

fn export(project: &TestProject, collector: &Collector) -> Run {
    project.run(
        &[
            "export",
            "otlp",
            "--endpoint",
            &collector.endpoint,
            "--pause",
            "1",
        ],
        b"",
    )
}

/// All spans of some requests.
fn spans(received: &[Received]) -> Vec<&Value> {
    let traces = received.iter().filter(|one| one.path == "/v1/traces");
    traces
        .flat_map(|one| {
            one.body["resourceSpans"][0]["scopeSpans"][0]["spans"]
                .as_array()
                .unwrap()
        })
        .collect()
}

/// The metrics of some requests by this name.
fn metric<'r>(received: &'r [Received], name: &str) -> Vec<&'r Value> {
    let requests = received.iter().filter(|one| one.path == "/v1/metrics");
    let all = requests.flat_map(|one| {
        one.body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
            .as_array()
            .unwrap()
    });
    all.filter(|metric| metric["name"] == name).collect()
}

fn attribute<'s>(span: &'s Value, key: &str) -> Option<&'s Value> {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == key)?;
    found["value"].as_object().unwrap().values().next()
}

#[test]
fn decisions_gates_and_reviews_arrive_as_the_protocol_has_them() {
    let project = states::busy();
    let collector = Collector::start(&[]);
    let run = export(&project, &collector);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stdout,
        "traces: 40 entries sent\nmetrics: 40 entries sent\n"
    );
    let received = collector.received();
    received.iter().for_each(check);
    let spans = spans(&received);
    assert_eq!(spans.len(), 40);
    let block = spans
        .iter()
        .find(|span| span["name"] == "tollgate block branch-guard")
        .unwrap();
    assert_eq!(attribute(block, "tollgate.code").unwrap(), "BG-001");
    assert_eq!(attribute(block, "gen_ai.tool.name").unwrap(), "Bash");
    let time = |key: &str| block[key].as_str().unwrap().parse::<u64>().unwrap();
    // 0.41 ms
    assert_eq!(time("endTimeUnixNano") - time("startTimeUnixNano"), 410_000);
    let review = spans
        .iter()
        .find(|span| span["name"] == "tollgate review plan")
        .unwrap();
    assert_eq!(
        attribute(review, "gen_ai.usage.input_tokens").unwrap(),
        "18000"
    );
    assert_eq!(review["status"]["code"], 2);
    let decisions = metric(&received, "tollgate.decisions");
    let points = decisions[0]["sum"]["dataPoints"].as_array().unwrap();
    let count: u64 = points
        .iter()
        .map(|point| point["asInt"].as_str().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(count, 40);
    for histogram in [
        metric(&received, "tollgate.hook.duration"),
        metric(&received, "tollgate.gate.duration"),
    ] {
        for point in histogram[0]["histogram"]["dataPoints"].as_array().unwrap() {
            let counts = point["bucketCounts"].as_array().unwrap();
            assert_eq!(
                counts.len(),
                point["explicitBounds"].as_array().unwrap().len() + 1
            );
            let sum: u64 = counts
                .iter()
                .map(|count| count.as_str().unwrap().parse::<u64>().unwrap())
                .sum();
            assert_eq!(sum.to_string(), point["count"].as_str().unwrap());
        }
    }
    let cost = metric(&received, "tollgate.review.cost");
    let points = cost[0]["sum"]["dataPoints"].as_array().unwrap();
    let usd: f64 = points
        .iter()
        .map(|point| point["asDouble"].as_f64().unwrap())
        .sum();
    assert!((usd - 2.6).abs() < 1e-9, "{usd}");
}

/// The protocol's own messages for Python, where `scripts/otlp` has installed them.
fn python() -> Option<std::path::PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where the script installs it")]
    let home = |name: &str| std::env::var_os(name).map(std::path::PathBuf::from);
    let cache = home("XDG_CACHE_HOME").or_else(|| Some(home("HOME")?.join(".cache")))?;
    Some(cache.join("tollgate/otlp/bin/python")).filter(|path| path.exists())
}

#[test]
fn the_protocols_own_definition_reads_what_is_sent() {
    let Some(python) = python() else {
        eprintln!("SKIPPED: the definition of OTLP is not here; scripts/otlp installs it");
        return;
    };
    let project = states::busy();
    let journal = ".tollgate/local/journal.jsonl";
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let line = json!({ "ts": "2026-02-08T09:00:00.000Z", "verdict": "block", "guard": "branch-guard",
        "session": "s", "call": "toolu_1", "trace": trace, "tool": "Bash", "ms": 0.5 });
    project.file(journal, format!("{}{line}\n", project.read(journal)));
    let collector = Collector::start(&[]);
    assert_eq!(export(&project, &collector).code, 0);
    let received = collector.received();
    let lines = received
        .iter()
        .map(|one| json!({ "path": one.path, "body": one.body }));
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    let mut command = std::process::Command::new(python);
    command.arg("-c").arg(include_str!("otlp.py"));
    let run = crate::project::run(command, lines.join("\n").as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let read: Value = serde_json::from_str(&run.stdout).unwrap();
    let spans = read["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 41);
    let mut ids: Vec<&str> = spans.iter().map(|span| span[1].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 41, "every span has its own id");
    let within = |span: &&Value| span[0] == "4bf92f3577b34da6a3ce929d0e0e4736";
    let within: Vec<&Value> = spans.iter().filter(within).collect();
    assert_eq!(
        (within.len(), &within[0][2]),
        (1, &json!("00f067aa0ba902b7"))
    );
    assert_eq!(read["metrics"]["tollgate.decisions"], 41);
    let usd = read["metrics"]["tollgate.review.cost"].as_f64().unwrap();
    assert!((usd - 2.6).abs() < 1e-9, "{usd}");
}

#[test]
fn a_span_belongs_to_the_agents_trace_or_to_its_sessions() {
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let project = states::blocked();
    let event = bash("git commit -m x")
        .in_session("s-1")
        .at_prompt("p-1")
        .call("toolu_7")
        .in_directory(project.root());
    project.hook(&event).denies();
    let mut traced = project.command(&["hook"]);
    traced.env("TRACEPARENT", trace);
    crate::project::run(traced, event.to_string().as_bytes()).denies();
    project.hook(&event).denies();
    let collector = Collector::start(&[]);
    assert_eq!(export(&project, &collector).code, 0);
    let received = collector.received();
    received.iter().for_each(check);
    let mut of_session: Vec<_> = spans(&received)
        .into_iter()
        .filter(|span| attribute(span, "session.id").is_some_and(|id| id == "s-1"))
        .collect();
    let place = of_session
        .iter()
        .position(|span| span["parentSpanId"].is_string())
        .unwrap();
    let joined = of_session.remove(place);
    assert_eq!(joined["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(joined["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(of_session.len(), 2);
    assert_eq!(of_session[0]["traceId"], of_session[1]["traceId"]);
    assert_ne!(of_session[0]["spanId"], of_session[1]["spanId"]);
    for span in of_session {
        assert_eq!(attribute(span, "prompt.id").unwrap(), "p-1");
        assert_eq!(attribute(span, "gen_ai.tool.call.id").unwrap(), "toolu_7");
    }
}

#[test]
fn a_second_run_sends_only_what_is_new() {
    let project = states::blocked();
    let collector = Collector::start(&[]);
    export(&project, &collector);
    let first = spans(&collector.received()).len();
    assert!(first > 0);
    let run = export(&project, &collector);
    assert_eq!(
        run.stdout,
        "traces: 0 entries sent\nmetrics: 0 entries sent\n"
    );
    assert!(collector.received().is_empty());
    project.hook(&bash("git commit -m again"));
    export(&project, &collector);
    assert_eq!(spans(&collector.received()).len(), 1);
    // Another collector has nothing yet.
    let other = Collector::start(&[]);
    export(&project, &other);
    assert_eq!(spans(&other.received()).len(), first + 1);
}

#[test]
fn a_long_journal_goes_in_batches_and_an_interrupted_one_goes_on() {
    let project = states::long();
    // The third batch is refused for good.
    let fine = "200 OK\r\n\r\n{}";
    let collector = Collector::start(&[fine, fine, "400 Bad Request\r\n\r\nno"]);
    let run = export(&project, &collector);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("it answers 400 no"), "{run:?}");
    assert_eq!(collector.received().len(), 3);
    // What was taken over is not sent again, what was not is.
    let run = export(&project, &collector);
    assert_eq!(
        run.stdout,
        "traces: 8976 entries sent\nmetrics: 10000 entries sent\n"
    );
    let received = collector.received();
    received.iter().for_each(check);
    assert_eq!(spans(&received).len(), 8976);
    // A journal that was begun anew has smaller numbers; it is not taken for the old one.
    std::fs::remove_file(project.path(".tollgate/local/journal.jsonl")).unwrap();
    let line = project.run(&["export", "otlp", "--endpoint", &collector.endpoint], b"");
    assert_eq!(line.code, 0, "{line:?}");
    let event = json!({ "ts": "2026-02-08T09:00:00.000Z", "verdict": "warn" }).to_string();
    let link = format!(",\"n\":1,\"chain\":\"{:064x}\"}}\n", 1);
    let line = format!("{}{link}", event.trim_end_matches('}'));
    project.file(".tollgate/local/journal.jsonl", &line);
    let run = export(&project, &collector);
    assert!(run.stderr.contains("was started anew"), "{run:?}");
    assert_eq!(spans(&collector.received()).len(), 1);
}

#[test]
fn entries_from_before_there_were_numbers_are_sent_again_rather_than_never() {
    let project = states::busy();
    let collector = Collector::start(&["400 Bad Request\r\n\r\n"]);
    assert_eq!(export(&project, &collector).code, 2);
    collector.received();
    assert_eq!(export(&project, &collector).code, 0);
    assert_eq!(spans(&collector.received()).len(), 40);
    assert!(export(&project, &collector).stdout.contains("traces: 0"));
}

#[test]
fn a_busy_collector_is_asked_again_and_a_dead_one_given_up() {
    let project = states::blocked();
    let collector = Collector::start(&[
        "429 Too Many Requests\r\nRetry-After: 0\r\n\r\n",
        "503 Service Unavailable\r\n\r\n",
    ]);
    let run = export(&project, &collector);
    assert_eq!(run.code, 0, "{run:?}");
    let received = collector.received();
    // The same request three times, then the metrics.
    assert_eq!(received.len(), 4);
    assert_eq!(received[0].body, received[2].body);

    let project = states::blocked();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let run = project.run(
        &["export", "otlp", "--endpoint", &endpoint, "--pause", "1"],
        b"",
    );
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("refused") && run.stderr.contains("hint"),
        "{run:?}"
    );
    // Nothing counts as sent.
    let collector = Collector::start(&[]);
    let run = project.run(&["export", "otlp", "--endpoint", &collector.endpoint], b"");
    assert!(!run.stdout.contains("traces: 0"), "{run:?}");
}

#[test]
fn what_a_collector_refuses_is_told_and_not_sent_again() {
    let project = states::blocked();
    let partial = "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3d\r\n{\"partialSuccess\":{\"rejectedSpans\":\"1\",\"errorMessage\":\"old\"}}\r\n0\r\n\r\n";
    let collector = Collector::start(&[partial]);
    let run = export(&project, &collector);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("1 of which it refused"), "{run:?}");
    assert!(run.stderr.contains("the collector says: old"), "{run:?}");
    assert!(export(&project, &collector).stdout.contains("traces: 0"));
}

#[test]
fn headers_go_along_and_what_is_wrong_is_said_without_repeating_secrets() {
    let project = states::blocked();
    let collector = Collector::start(&[]);
    let run = project.run(
        &[
            "export",
            "otlp",
            "--endpoint",
            &collector.endpoint,
            "--header",
            "authorization=Bearer abc",
        ],
        b"",
    );
    assert_eq!(run.code, 0, "{run:?}");
    let received = collector.received();
    assert!(
        received[0]
            .headers
            .contains(&"authorization: Bearer abc".to_owned())
    );
    for (args, told) in [
        (["--header", "secret\r\nX: y"], "NAME=VALUE"),
        (["--endpoint", "ftp://example.org"], "http:// or https://"),
        (["--endpoint", "localhost:4318"], "http://127.0.0.1:4318"),
    ] {
        let run = project.run(&["export", "otlp", args[0], args[1]], b"");
        assert_eq!(run.code, 2, "{run:?}");
        assert!(
            run.stderr.contains(told) && !run.stderr.contains("secret"),
            "{run:?}"
        );
    }
}

/// Its silence after a whole answer was taken for a failure, and the same was sent again.
#[test]
fn a_collector_that_keeps_the_connection_gets_everything_once() {
    let project = states::busy();
    let collector = Collector::that_never_closes();
    let run = export(&project, &collector);
    assert_eq!(run.code, 0, "{run:?}");
    let received = collector.received();
    let paths: Vec<&str> = received.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["/v1/traces", "/v1/metrics"]);
}

#[test]
fn over_https_a_collector_needs_a_certificate_that_is_trusted() {
    let project = states::blocked();
    let (collector, authority) = Collector::with_tls();
    project.file("ca.pem", &authority);
    // None of the authorities that browsers trust knows it.
    let run = export(&project, &collector);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("certificate"), "{run:?}");
    assert!(collector.received().is_empty());
    let args = ["export", "otlp", "--endpoint", &collector.endpoint];
    let run = project.run(&[&args[..], &["--certificate", "ca.pem"]].concat(), b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(collector.received().len(), 2);
    // The variable that OpenTelemetry has for it.
    project.hook(&bash("git commit -m again"));
    let mut command = project.command(&args);
    command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", project.path("ca.pem"));
    let run = crate::project::run(command, b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(collector.received().len(), 2);
    for (file, told) in [
        ("gone.pem", "gone.pem: No such file"),
        ("README.md", "README.md: there is no certificate in it"),
    ] {
        project.file("README.md", "x");
        let run = project.run(&[&args[..], &["--certificate", file]].concat(), b"");
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(told), "{run:?}");
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let project = states::busy();
    let other = Collector::start(&[]);
    let away = format!(
        "307 Temporary Redirect\r\nLocation: {}/v1/traces\r\nContent-Length: 0\r\n\r\n",
        other.endpoint
    );
    let run = export(&project, &Collector::start(&[&away]));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("it answers 307"), "{run:?}");
    assert!(other.received().is_empty());
}

#[test]
fn a_proxy_of_the_environment_is_not_used() {
    let project = states::busy();
    let collector = Collector::start(&[]);
    let mut command = project.command(&["export", "otlp", "--endpoint", &collector.endpoint]);
    for name in ["ALL_PROXY", "HTTP_PROXY", "http_proxy"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let run = crate::project::run(command, b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(collector.received().len(), 2);
}
