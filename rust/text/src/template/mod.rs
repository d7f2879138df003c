//! A chat template as Hugging Face transformers renders it, on minijinja.
//!
//! transformers uses Jinja2 with `trim_blocks` and `lstrip_blocks`, loop controls, a `tojson` that
//! is Python's `json.dumps`, `raise_exception`, `strftime_now` and `{% generation %}` blocks that
//! mark what the assistant said. What minijinja does differently from Python is put right in
//! `environment`.

mod environment;
mod generation;
mod json;
mod methods;
mod python;

use minijinja::{Environment, Error, Value};

use generation::Marks;

pub use generation::Span;

const NAME: &str = "chat_template";

pub struct ChatTemplate {
    environment: Environment<'static>,
    source: String,
    marks_generation: bool,
}

pub struct Rendered {
    pub text: String,
    /// The bytes that {% generation %} blocks wrote, in order and not overlapping.
    pub generated: Vec<Span>,
}

impl ChatTemplate {
    pub fn compile(source: &str) -> Result<Self, String> {
        // Jinja2 reads every kind of line end as \n.
        let source = source.replace("\r\n", "\n").replace('\r', "\n");
        let rewritten = generation::rewrite_tags(&source);
        let marks_generation = rewritten != source;
        let mut environment = environment::like_transformers();
        environment.add_template_owned(NAME, rewritten).map_err(|error| describe(&error))?;
        Ok(Self { environment, source, marks_generation })
    }

    pub fn marks_generation(&self) -> bool {
        self.marks_generation
    }

    /// `context` is a JSON object: messages, tools, special tokens and such.
    pub fn render(&self, context: &str) -> Result<Rendered, String> {
        let marks = Marks::absent_from(&[&self.source, context])?;
        let mut variables: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(context).map_err(|error| format!("context: {error}"))?;
        variables.insert(generation::MARKS_VARIABLE.to_owned(), marks.to_string().into());

        let template = self.environment.get_template(NAME).map_err(|error| describe(&error))?;
        let marked = template.render(Value::from_serialize(&variables)).map_err(|error| describe(&error))?;
        let (text, generated) = marks.take_out(&marked);
        Ok(Rendered { text, generated })
    }
}

/// One line: what went wrong, and where.
fn describe(error: &Error) -> String {
    let what = match error.detail() {
        Some(detail) => detail.to_owned(),
        None => error.kind().to_string(),
    };
    match error.line() {
        Some(line) => format!("line {line}: {what}"),
        None => what,
    }
}
