//! A real Chromium, driven over `WebDriver`.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long the driver may take to bring a browser up, to answer, and to end.
const TO_START: Duration = Duration::from_secs(45);
const TO_ANSWER: Duration = Duration::from_mins(1);
const TO_END: Duration = Duration::from_secs(10);

/// A browser without a window. Its driver ends it when this is dropped.
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Browser {
    /// Nothing, and said so, where there is none; a failure where there has to be one.
    pub(super) fn start() -> Option<Self> {
        let found = ["/usr/bin/chromedriver", "/usr/lib/chromium/chromedriver"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        let Some(path) = found else {
            #[expect(
                clippy::disallowed_methods,
                reason = "set by .ci/run where there is one"
            )]
            let is_needed = std::env::var_os("TOLLGATE_NEEDS_BROWSER").is_some();
            assert!(!is_needed, "there is no chromedriver");
            eprintln!("SKIPPED: there is no chromedriver; scripts/browser installs one");
            return None;
        };
        // A browser that does not come up on a busy machine is not the page's fault.
        let begun = (0..3).find_map(|_| Self::begin(path).ok());
        Some(begun.expect("a browser that starts"))
    }

    fn begin(path: &str) -> io::Result<Self> {
        let profile = tempfile::tempdir()?;
        let mut driver = Command::new(path)
            .arg("--port=0")
            .env("HOME", profile.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = BufReader::new(driver.stdout.take().unwrap());
        let mut browser = Self {
            driver,
            port: 0,
            session: String::new(),
            profile,
        };
        let mut lines = out.lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, rest) = line.split_once("started successfully on port ")?;
            rest.trim_end_matches('.').parse().ok()
        });
        browser.port = port.ok_or(io::ErrorKind::NotConnected)?;
        let directory = browser.profile.path().join("chromium");
        let options = json!({
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--force-device-scale-factor=1", "--window-size=1280,900",
                format!("--user-data-dir={}", directory.display())],
        });
        let asked = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": { "performance": "ALL", "browser": "ALL" },
        } } });
        let made = browser.try_to_call("POST", "/session", &asked, TO_START)?;
        browser.session = made["sessionId"].as_str().unwrap().to_owned();
        // What the browser opens by itself is not the page's doing.
        browser.open("about:blank");
        browser.requests();
        // A window that nobody sees is not always the one with the keyboard.
        browser.command("Page.bringToFront", &json!({}));
        browser.command(
            "Emulation.setFocusEmulationEnabled",
            &json!({ "enabled": true }),
        );
        Ok(browser)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_to_call(method, path, body, TO_ANSWER).unwrap()
    }

    fn try_to_call(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        patience: Duration,
    ) -> io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(patience))?;
        let body = if method == "GET" {
            String::new()
        } else {
            body.to_string()
        };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if line == "\r\n" || line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or(("", ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes)?;
        let answer: Value = serde_json::from_slice(&bytes)?;
        if !answer["value"]["error"].is_null() {
            return Err(io::Error::other(format!("{path}: {answer}")));
        }
        Ok(answer["value"].clone())
    }

    fn of_session(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("/session/{}{path}", self.session), body)
    }

    pub(super) fn open(&self, url: &str) {
        self.of_session("/url", &json!({ "url": url }));
    }

    /// What a function body returns in the page.
    pub(super) fn script(&self, body: &str) -> Value {
        self.of_session("/execute/sync", &json!({ "script": body, "args": [] }))
    }

    /// What axe finds about the page's accessibility; nothing, and said so, where it was not
    /// fetched.
    pub(super) fn axe(&self) -> Vec<String> {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe/axe.min.js");
        let Ok(axe) = std::fs::read_to_string(&file) else {
            eprintln!("SKIPPED: no {}; scripts/browser fetches it", file.display());
            return Vec::new();
        };
        if self.script("return typeof axe") == "undefined" {
            self.script(&axe);
        }
        let run = "const done = arguments[0]; axe.run(document, { resultTypes: ['violations'] }).then(all => done(all.violations.map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(' | ')}`)))";
        let found = self.of_session("/execute/async", &json!({ "script": run, "args": [] }));
        let found = found.as_array().unwrap().iter();
        found.map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    /// Shows moments as somebody in this zone sees them.
    pub(super) fn zone(&self, name: &str) {
        self.command(
            "Emulation.setTimezoneOverride",
            &json!({ "timezoneId": name }),
        );
    }

    /// Waits until an expression holds in the page.
    #[track_caller]
    pub(super) fn until(&self, expression: &str) {
        let end = Instant::now() + Duration::from_mins(1);
        while self.script(&format!("return !!({expression})")) != true {
            assert!(
                Instant::now() < end,
                "{expression} never came to hold: {}",
                self.script("return document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses a key and lets go of it.
    pub(super) fn press(&self, key: &str) {
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": [
            { "type": "keyDown", "value": key }, { "type": "keyUp", "value": key },
        ] }] });
        self.of_session("/actions", &actions);
    }

    /// A command of the browser's own protocol.
    pub(super) fn command(&self, name: &str, parameters: &Value) -> Value {
        self.of_session(
            "/goog/cdp/execute",
            &json!({ "cmd": name, "params": parameters }),
        )
    }

    pub(super) fn size(&self, width: u32, height: u32) {
        self.command(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 }),
        );
    }

    pub(super) fn scheme(&self, scheme: &str) {
        let wanted = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.command("Emulation.setEmulatedMedia", &wanted);
    }

    /// The page as a picture, to be looked at, as far down as somebody would.
    pub(super) fn picture(&self, name: &str) {
        let size = self
            .script("return [innerWidth, Math.min(document.documentElement.scrollHeight, 2400)]");
        self.clip(name, &json!([0, 0, size[0], size[1]]));
    }

    /// A picture of one part of the page.
    pub(super) fn picture_of(&self, part: &str, name: &str) {
        let place = self.script(&format!(
            "scrollTo(0, 0); const box = document.querySelector('{part}').getBoundingClientRect(); return [0, box.y, innerWidth, box.height]"
        ));
        self.clip(name, &place);
    }

    fn clip(&self, name: &str, place: &Value) {
        let clip = json!({ "x": place[0], "y": place[1], "width": place[2], "height": place[3], "scale": 1 });
        let shot = self.command(
            "Page.captureScreenshot",
            &json!({ "format": "png", "captureBeyondViewport": true, "clip": clip }),
        );
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
        std::fs::create_dir_all(&directory).unwrap();
        let mut file = std::fs::File::create(directory.join(format!("{name}.png"))).unwrap();
        file.write_all(&decode(shot["data"].as_str().unwrap()))
            .unwrap();
    }

    /// Every address that was asked for since the last time.
    pub(super) fn requests(&self) -> Vec<String> {
        let log = self.of_session("/se/log", &json!({ "type": "performance" }));
        let events =
            log.as_array().unwrap().iter().map(|line| {
                serde_json::from_str::<Value>(line["message"].as_str().unwrap()).unwrap()
            });
        let asked = events.filter(|event| {
            let method = event["message"]["method"].as_str().unwrap();
            method == "Network.requestWillBeSent" || method == "Network.webSocketCreated"
        });
        asked
            .map(|event| {
                let params = &event["message"]["params"];
                let url = params["request"]["url"].as_str().or(params["url"].as_str());
                url.unwrap_or("?").to_owned()
            })
            .collect()
    }

    /// What the browser complained about since the last time.
    pub(super) fn complaints(&self) -> Vec<String> {
        let log = self.of_session("/se/log", &json!({ "type": "browser" }));
        let lines = log.as_array().unwrap().iter();
        lines.map(|line| line["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", &format!("/session/{}", self.session), &json!({}));
        } else if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            // The driver ends its browsers when it is told to end.
            let _told = write!(
                stream,
                "GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
                self.port
            );
            let _at_most = stream.set_read_timeout(Some(TO_END));
            let _heard = stream.read_to_end(&mut Vec::new());
        }
        let _ended = self.driver.kill();
        let _reaped = self.driver.wait();
    }
}

/// Base64.
fn decode(text: &str) -> Vec<u8> {
    let value = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(value).map(u32::from).collect();
    let mut bytes = Vec::new();
    for four in digits.chunks(4) {
        let mut word = four.iter().fold(0, |word, digit| word << 6 | digit);
        word <<= 6 * (4 - four.len());
        bytes.extend_from_slice(&word.to_be_bytes()[1..four.len()]);
    }
    bytes
}
