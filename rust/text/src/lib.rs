//! Hugging Face tokenizers and chat templates behind a C ABI: include/lockstep_text.h is the manual.

mod abi;
mod template;
mod template_abi;
mod tokenizer;
