//! Where the storage is and who asks, as the environment says in AWS's own variables.

use rusty_s3::{Bucket, BucketError, Credentials, UrlStyle};

use super::ObjectError;

/// How a bucket is reached.
pub(super) struct Settings {
    pub(super) bucket: Bucket,
    /// `None` for requests that nobody signs.
    pub(super) credentials: Option<Credentials>,
    /// The storage, for messages.
    pub(super) endpoint: String,
}

impl Settings {
    /// The settings of the bucket called `name`, by the environment.
    pub(super) fn of(name: &str) -> Result<Self, ObjectError> {
        Self::from(name, &|variable| std::env::var(variable).ok().filter(|value| !value.is_empty()))
    }

    fn from(name: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ObjectError> {
        let is_on = |name: &str| variable(name).is_some_and(|value| matches!(value.as_str(), "true" | "1" | "yes"));
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let own = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
        // Storage of one's own rarely has a name a bucket; AWS's certificates stop at a bucket's first dot.
        let is_named = if own.is_some() { is_on("AWS_VIRTUAL_HOSTED_STYLE_REQUEST") } else { !name.contains('.') };
        let style = if is_named { UrlStyle::VirtualHost } else { UrlStyle::Path };
        let endpoint = own.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let wrong = |what: String| ObjectError::Setting { name: "AWS_ENDPOINT_URL", what };
        if endpoint.starts_with("http://") && !is_on("AWS_ALLOW_HTTP") {
            return Err(wrong(format!("is {endpoint}, where anyone may listen; AWS_ALLOW_HTTP=true allows it")));
        }
        let url = endpoint.parse().map_err(|_| wrong(format!("is `{endpoint}`, which is no URL")))?;
        let bucket = Bucket::new(url, style, name.to_owned(), region).map_err(|error| match error {
            BucketError::UnsupportedScheme => wrong(format!("is `{endpoint}`, neither http:// nor https://")),
            error => wrong(format!("is `{endpoint}`, where no bucket `{name}` can be: {error}")),
        })?;
        Ok(Self { bucket, credentials: credentials(variable, is_on("AWS_SKIP_SIGNATURE"))?, endpoint })
    }
}

fn credentials(variable: &dyn Fn(&str) -> Option<String>, nobody: bool) -> Result<Option<Credentials>, ObjectError> {
    if nobody {
        return Ok(None);
    }
    let wanted = |name: &'static str| {
        let what = "is not set; AWS_SKIP_SIGNATURE=true asks without a name".to_owned();
        variable(name).ok_or(ObjectError::Setting { name, what })
    };
    let (key, secret) = (wanted("AWS_ACCESS_KEY_ID")?, wanted("AWS_SECRET_ACCESS_KEY")?);
    Ok(Some(match variable("AWS_SESSION_TOKEN") {
        Some(token) => Credentials::new_with_token(key, secret, token),
        None => Credentials::new(key, secret),
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::Settings;

    /// Where an object `k` of the bucket is, or what is wrong with the variables.
    fn url(bucket: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let keys = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        let all: Vec<_> = variables.iter().chain(&keys).collect();
        let find = |name: &str| all.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        let settings = Settings::from(bucket, &find).map_err(|error| error.to_string())?;
        Ok(settings.bucket.object_url("k").to_string())
    }

    #[test]
    fn buckets_are_where_the_environment_says() {
        assert_eq!(url("b", &[]).unwrap(), "https://b.s3.us-east-1.amazonaws.com/k");
        let region = ("AWS_REGION", "eu-west-1");
        assert_eq!(url("b", &[region]).unwrap(), "https://b.s3.eu-west-1.amazonaws.com/k");
        assert_eq!(url("a.b", &[region]).unwrap(), "https://s3.eu-west-1.amazonaws.com/a.b/k");
        let (own, named) = (("AWS_ENDPOINT_URL", "https://store:9000"), ("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true"));
        assert_eq!(url("b", &[own]).unwrap(), "https://store:9000/b/k");
        assert_eq!(url("b", &[own, named]).unwrap(), "https://b.store:9000/k");
        let plain = ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1");
        assert!(url("b", &[plain]).unwrap_err().contains("AWS_ALLOW_HTTP"));
        assert_eq!(url("b", &[plain, own, ("AWS_ALLOW_HTTP", "true")]).unwrap(), "http://127.0.0.1:1/b/k");
        assert!(url("b", &[("AWS_ENDPOINT_URL", "ftp://x")]).unwrap_err().contains("neither http"));
        assert!(url("b", &[("AWS_ENDPOINT_URL", "nowhere")]).unwrap_err().contains("no URL"));
    }

    #[test]
    fn nobody_signs_only_when_told_to() {
        let find = |name: &str| (name == "AWS_ACCESS_KEY_ID").then(|| "id".to_owned());
        let error = Settings::from("b", &find).err().unwrap().to_string();
        assert!(error.starts_with("AWS_SECRET_ACCESS_KEY is not set"), "{error}");
        let find = |name: &str| (name == "AWS_SKIP_SIGNATURE").then(|| "true".to_owned());
        assert!(Settings::from("b", &find).unwrap().credentials.is_none());
    }
}
