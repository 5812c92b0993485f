//! Maven, Gradle and sbt. Each runs everything with one command; the wrapper goes first.

use super::super::directory::Directory;
use super::{Check, Found, Role};

pub(super) fn maven(directory: &Directory<'_>) -> Option<Found> {
    let program = if directory.has("mvnw") {
        "./mvnw"
    } else {
        "mvn"
    };
    directory.has("pom.xml").then(|| {
        let check = Check::new(Role::Test, format!("{program} -q -B verify"));
        Found::new("Java with Maven", "pom.xml", vec![check])
    })
}

pub(super) fn gradle(directory: &Directory<'_>) -> Option<Found> {
    let file = directory.first(&[
        "settings.gradle.kts",
        "settings.gradle",
        "build.gradle.kts",
        "build.gradle",
    ])?;
    let program = if directory.has("gradlew") {
        "./gradlew"
    } else {
        "gradle"
    };
    let check = Check::new(Role::Test, format!("{program} check"));
    Some(Found::new("Java or Kotlin with Gradle", file, vec![check]))
}

pub(super) fn sbt(directory: &Directory<'_>) -> Option<Found> {
    directory.has("build.sbt").then(|| {
        let check = Check::new(Role::Test, "sbt test");
        Found::new("Scala with sbt", "build.sbt", vec![check])
    })
}
