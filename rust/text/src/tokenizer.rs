//! `tokenizers::Tokenizer` behind the C ABI.

use std::collections::HashSet;
use std::os::raw::c_char;

use tokenizers::Tokenizer;

use crate::abi::{guarded, slice, text, OwnedArray, OwnedString};

pub struct LoadedTokenizer {
    tokenizer: Tokenizer,
    special_ids: HashSet<u32>,
    vocab_size: u64,
}

#[repr(C)]
pub struct Token {
    id: u32,
    begin: usize,
    end: usize,
}

impl LoadedTokenizer {
    fn from_json(json: &str) -> Result<Self, String> {
        let mut tokenizer: Tokenizer = json.parse().map_err(|error| format!("{error}"))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| format!("{error}"))?;

        let special_ids = tokenizer
            .get_added_tokens_decoder()
            .into_iter()
            .filter(|(_, token)| token.special)
            .map(|(id, _)| id)
            .collect();
        let highest = tokenizer.get_vocab(true).into_values().max();
        let vocab_size = highest.map_or(0, |id| u64::from(id) + 1);
        Ok(Self { tokenizer, special_ids, vocab_size })
    }

    fn encode(&self, text: &str, add_special_tokens: bool, with_offsets: bool) -> Result<Vec<Token>, String> {
        let encoding = if with_offsets {
            self.tokenizer.encode(text, add_special_tokens)
        } else {
            self.tokenizer.encode_fast(text, add_special_tokens)
        }
        .map_err(|error| format!("{error}"))?;
        let place = |index: usize| if with_offsets { encoding.get_offsets()[index] } else { (0, 0) };
        Ok(encoding
            .get_ids()
            .iter()
            .enumerate()
            .map(|(index, &id)| {
                let (begin, end) = place(index);
                Token { id, begin, end }
            })
            .collect())
    }
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_tokenizer_new(
    json: *const c_char,
    json_size: usize,
    tokenizer: *mut *mut LoadedTokenizer,
    error: *mut OwnedString,
) -> bool {
    guarded(tokenizer, error, || {
        let loaded = LoadedTokenizer::from_json(text(json, json_size)?)?;
        Ok(Box::into_raw(Box::new(loaded)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_tokenizer_free(tokenizer: *mut LoadedTokenizer) {
    if !tokenizer.is_null() {
        drop(Box::from_raw(tokenizer));
    }
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_encode(
    tokenizer: *const LoadedTokenizer,
    input: *const c_char,
    input_size: usize,
    add_special_tokens: bool,
    with_offsets: bool,
    tokens: *mut OwnedArray<Token>,
    error: *mut OwnedString,
) -> bool {
    guarded(tokens, error, || {
        let input = text(input, input_size)?;
        (*tokenizer).encode(input, add_special_tokens, with_offsets).map(OwnedArray::new)
    })
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_tokens_free(tokens: OwnedArray<Token>) {
    tokens.free();
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_decode(
    tokenizer: *const LoadedTokenizer,
    ids: *const u32,
    num_ids: usize,
    skip_special_tokens: bool,
    output: *mut OwnedString,
    error: *mut OwnedString,
) -> bool {
    guarded(output, error, || {
        let decoded = (*tokenizer).tokenizer.decode(slice(ids, num_ids), skip_special_tokens);
        decoded.map(|text| OwnedString::new(text.into_bytes())).map_err(|error| format!("{error}"))
    })
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_vocab_size(tokenizer: *const LoadedTokenizer) -> u64 {
    (*tokenizer).vocab_size
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_token_id(
    tokenizer: *const LoadedTokenizer,
    token: *const c_char,
    token_size: usize,
    id: *mut u32,
) -> bool {
    let found = text(token, token_size).ok().and_then(|token| (*tokenizer).tokenizer.token_to_id(token));
    if let Some(found) = found {
        id.write(found);
    }
    found.is_some()
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_is_special(tokenizer: *const LoadedTokenizer, id: u32) -> bool {
    (*tokenizer).special_ids.contains(&id)
}
