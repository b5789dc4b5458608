//! The HTML report as a browser sees it: headless Chromium, where there is one.
//!
//! `SKYFALL_CHROMIUM` names it; otherwise it is looked for on the path. Where there is none, the
//! tests say so on stderr, past the harness's capture.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use skyfall::eval::Report;
use skyfall::eval::output::{self, Format};
use skyfall::text::json;
use skyfall::value::Value;

use super::figures::{drawn, measured};
use super::outputs::{hostile, hostile_report_with};
use super::table::judged;
use super::{at, number};
use crate::command::Scratch;

/// What is asked of the page once it stands.
const PROBE: &str = r#"<script>
  const all = (what) => [...document.querySelectorAll(what)];
  for (const details of all("details")) details.open = true;
  const overlaps = [];
  for (const svg of all("svg")) {
    const texts = all("text").filter((text) => svg.contains(text)).map((text) => [text, text.getBoundingClientRect()]);
    const frame = svg.getBoundingClientRect();
    texts.forEach(([text, box], index) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1) overlaps.push(text.textContent + " leaves");
      for (const [other, b] of texts.slice(index + 1)) {
        const wide = Math.min(box.right, b.right) - Math.max(box.left, b.left);
        const high = Math.min(box.bottom, b.bottom) - Math.max(box.top, b.top);
        if (wide > 1 && high > 4) overlaps.push(text.textContent + " on " + other.textContent);
      }
    });
  }
  const found = {
    foreign: all("img, iframe, object, embed, link, a, b, script[src]").length,
    handlers: all("*").filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
    figures: all("svg").length,
    unseen: all("svg").filter((svg) => svg.getBoundingClientRect().height < 40).length,
    wide: document.documentElement.scrollWidth - window.innerWidth,
    ground: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.querySelector(".f-text") || document.body).fill,
    texts: all("bdi, td, th, summary").map((e) => e.title || e.textContent),
    requests: performance.getEntriesByType("resource").length,
    overlaps,
  };
  document.documentElement.innerHTML = "";
  document.title = "probe";
  document.documentElement.appendChild(document.createElement("body")).textContent = "<<<" + JSON.stringify(found) + ">>>";
</script>"#;

fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("SKYFALL_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let places = std::env::split_paths(&path).flat_map(|place| names.map(|name| place.join(name)));
    let found = places.into_iter().find(|candidate| candidate.is_file());
    if found.is_none() {
        // Not `eprintln!`: the harness keeps that to itself when a test passes.
        let _ = std::io::stderr().write_all(b"chromium not found: page not looked at\n");
    }
    found
}

/// What the browser finds in a report's page, on a screen of `width` pixels.
fn probed(browser: &PathBuf, report: &Report, width: u32, dark: bool) -> Value {
    let scratch = Scratch::new();
    let page = output::render(report, Format::Html, 80).replace("</body>", &format!("{PROBE}</body>"));
    let page = scratch.write("page.html", &page);
    let profile = scratch.file("profile");
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--no-first-run"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--window-size={width},900"));
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    let output = command.arg(format!("file://{}", page.display())).output().unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let told = dom.split("&lt;&lt;&lt;").nth(1).and_then(|rest| rest.split("&gt;&gt;&gt;").next());
    let told = told.unwrap_or_else(|| panic!("{dom}\n{}", String::from_utf8_lossy(&output.stderr)));
    let told = told.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    json::parse(&told).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn assert_sound(found: &Value, what: &str) {
    for none in ["foreign", "handlers", "unseen", "requests"] {
        assert_eq!(number(found, none), 0.0, "{what}: {none}");
    }
    assert_eq!(at(found, "overlaps"), &Value::List(Vec::new()), "{what}");
}

#[test]
fn labels_are_text_to_a_browser() {
    let Some(browser) = chromium() else { return };
    let found = probed(&browser, &hostile_report_with(&drawn()), 1440, false);
    assert_sound(&found, "hostile");
    assert!(number(&found, "figures") > 10.0);
    let texts = at(&found, "texts").as_list().unwrap();
    for label in ["<img src=x onerror=alert(1)>", "=1+1", "a|b", "\"'`", "</script><b>"] {
        assert!(hostile().iter().any(|known| known == label));
        assert!(texts.iter().any(|text| text.as_text().is_some_and(|text| text.contains(label))), "{label}");
    }
}

#[test]
fn pages_fit_screens_in_light_and_dark() {
    let Some(browser) = chromium() else { return };
    let report = judged((0..6).map(|seed| measured(seed, 900, 6, 3)).collect(), &drawn());
    let (light, dark) = (probed(&browser, &report, 1440, false), probed(&browser, &report, 720, true));
    for (found, what) in [(&light, "light"), (&dark, "dark")] {
        assert_sound(found, what);
        assert!(number(found, "wide") <= 0.0, "{what}: {}", number(found, "wide"));
    }
    assert_eq!(at(&light, "ground").as_text(), Some("rgb(255, 255, 255)"));
    assert_eq!(at(&dark, "ground").as_text(), Some("rgb(13, 17, 23)"));
    assert_ne!(at(&light, "ink"), at(&dark, "ink"));
}
