//! What crosses the C ABI: owned strings and arrays, errors, and the guard that keeps panics inside.

use std::cell::RefCell;
use std::os::raw::c_char;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Once;

/// An owned `Box<[T]>` given to the caller, who hands it back to be freed.
#[repr(C)]
pub struct OwnedArray<T> {
    data: *mut T,
    size: usize,
}

pub type OwnedString = OwnedArray<u8>;

impl<T> OwnedArray<T> {
    pub fn new(items: Vec<T>) -> Self {
        let size = items.len();
        let data = Box::into_raw(items.into_boxed_slice()) as *mut T;
        Self { data, size }
    }

    /// # Safety
    /// `self` came from `new` and is freed once, or its data is null.
    pub unsafe fn free(self) {
        if !self.data.is_null() {
            drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.data, self.size)));
        }
    }
}

/// # Safety
/// `data` points to `size` items that outlive the result, or `size` is 0.
pub unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, size)
    }
}

/// # Safety
/// As for `slice`.
pub unsafe fn text<'a>(data: *const c_char, size: usize) -> Result<&'a str, String> {
    std::str::from_utf8(slice(data.cast(), size)).map_err(|error| format!("not UTF-8: {error}"))
}

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the message and place of a panic for the error text; nothing is printed.
fn record_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        set_hook(Box::new(|info| {
            let message = info.to_string().replace('\n', " ");
            LAST_PANIC.with(|last| *last.borrow_mut() = Some(message));
        }));
    });
}

/// Runs `work` and gives its result out, an error or a panic as the caller's error string.
///
/// # Safety
/// `result` and `error` are valid for writing.
pub unsafe fn guarded<T>(
    result: *mut T,
    error: *mut OwnedString,
    work: impl FnOnce() -> Result<T, String>,
) -> bool {
    record_panics();
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let panic = LAST_PANIC.with(|last| last.borrow_mut().take());
        Err(panic.unwrap_or_else(|| "panicked".to_owned()))
    });
    match outcome {
        Ok(value) => {
            result.write(value);
            true
        }
        Err(message) => {
            error.write(OwnedString::new(message.into_bytes()));
            false
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn lockstep_text_string_free(string: OwnedString) {
    string.free();
}
