//! `ChatTemplate` behind the C ABI.

use std::os::raw::c_char;

use crate::abi::{guarded, text, OwnedArray, OwnedString};
use crate::template::{ChatTemplate, Span};

#[repr(C)]
pub struct RenderedChat {
    text: OwnedString,
    generated: OwnedArray<Span>,
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_template_new(
    source: *const c_char,
    source_size: usize,
    template: *mut *mut ChatTemplate,
    error: *mut OwnedString,
) -> bool {
    guarded(template, error, || {
        let compiled = ChatTemplate::compile(text(source, source_size)?)?;
        Ok(Box::into_raw(Box::new(compiled)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_template_free(template: *mut ChatTemplate) {
    if !template.is_null() {
        drop(Box::from_raw(template));
    }
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_template_marks_generation(template: *const ChatTemplate) -> bool {
    (*template).marks_generation()
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_render(
    template: *const ChatTemplate,
    context: *const c_char,
    context_size: usize,
    rendered: *mut RenderedChat,
    error: *mut OwnedString,
) -> bool {
    guarded(rendered, error, || {
        let result = (*template).render(text(context, context_size)?)?;
        Ok(RenderedChat {
            text: OwnedString::new(result.text.into_bytes()),
            generated: OwnedArray::new(result.generated),
        })
    })
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_rendered_free(rendered: RenderedChat) {
    rendered.text.free();
    rendered.generated.free();
}
