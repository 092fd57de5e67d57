#include "runtime/code.h"

#include "base/hash.h"
#include "runtime/driver.h"
#include "runtime/image.h"
#include "runtime/mapped.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct cx_cudart_binary {
    const cxr_fat_binary *fat;
    CUlibrary library; /* NULL: not loaded yet */
    cx_cudart_binary *next, **link;
};

typedef enum symbol_kind { KERNEL, VARIABLE, MANAGED, TEXTURE, SURFACE } symbol_kind;

/* By the address in the host. */
typedef struct symbol {
    const void *host;
    const char *name; /* the host code's, which stays while the binary is registered */
    cx_cudart_binary *binary;
    symbol_kind kind;
    bool has_text; /* the name is known to be one */
    CUkernel kernel; /* of a kernel; NULL: not looked up yet */
    bool reads_floats, is_bound; /* of a texture */
    size_t offset;
    UT_hash_handle hh;
} symbol;

/* A kernel as a function of a context. */
typedef struct function_key {
    CUkernel kernel;
    CUcontext context;
} function_key;

typedef struct function {
    function_key key;
    CUfunction function;
    unsigned int resets; /* how many there had been when it was looked up */
    UT_hash_handle hh;
} function;

typedef struct known_kernel {
    CUkernel kernel;
    CUlibrary library;
    UT_hash_handle hh;
} known_kernel;

/* Lock "cudart" guards all of this. Another thread that needs other code waits while some is
 * loaded.
 */
static cx_cudart_binary *binaries;
static symbol *symbols;
static function *functions;
static known_kernel *known_kernels;
static _Atomic bool is_exiting;

static void begin_exit(void)
{
    atomic_store(&is_exiting, true);
}

/* Host code unregisters its binaries in handlers of atexit that were added before main. This one is
 * added at the first use of code, so it runs before them. */
static void watch_exit_locked(void)
{
    static bool is_watched;
    if (!is_watched)
        is_watched = atexit(begin_exit) == 0;
}

/* ---- registration ---- */

cx_cudart_binary *cx_cudart_binary_add(const cxr_fat_binary *fat)
{
    cx_cudart_binary *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fat = fat;
    cx_lock_enter(&cx_cudart_lock);
    self->next = binaries;
    self->link = &binaries;
    if (binaries != NULL)
        binaries->link = &self->next;
    binaries = self;
    cx_lock_leave(&cx_cudart_lock);
    return self;
}

/* False for a binary that was unregistered, or never registered here. The newest comes first: host
 * code registers what is in a binary right after it, and unregisters in the opposite order. */
static bool is_registered_locked(const cx_cudart_binary *binary)
{
    const cx_cudart_binary *each = binaries;
    while (each != NULL && each != binary)
        each = each->next;
    return each != NULL;
}

static void forget_functions_locked(CUkernel kernel)
{
    function *each, *next;
    HASH_ITER (hh, functions, each, next) {
        if (each->key.kernel != kernel)
            continue;
        HASH_DEL(functions, each);
        free(each);
    }
}

void cx_cudart_binary_remove(cx_cudart_binary *self)
{
    const cx_driver_table *driver;
    symbol *each, *next;
    cx_lock_enter(&cx_cudart_lock);
    if (!is_registered_locked(self)) {
        cx_lock_leave(&cx_cudart_lock);
        return;
    }
    HASH_ITER (hh, symbols, each, next) {
        if (each->binary != self)
            continue;
        if (each->kernel != NULL)
            forget_functions_locked(each->kernel);
        HASH_DEL(symbols, each);
        free(each);
    }
    *self->link = self->next;
    if (self->next != NULL)
        self->next->link = self->link;
    cx_lock_leave(&cx_cudart_lock);
    if (self->library != NULL && !atomic_load(&is_exiting) &&
        cx_cudart_use_driver(&driver) == CXR_SUCCESS)
        (void)driver->library_unload(self->library);
    free(self);
}

/* An address that is registered anew, because its library was loaded again, takes the old one's
 * place. Without memory the symbol is not registered: its use is refused. */
static void add_symbol(cx_cudart_binary *binary, const void *host, const char *name,
                       symbol_kind kind, bool reads_floats)
{
    symbol *self = calloc(1, sizeof *self);
    if (self == NULL)
        return;
    *self = (symbol){.host = host, .name = name, .binary = binary, .kind = kind,
                     .reads_floats = reads_floats};
    bool added = true;
    symbol *old;
    cx_lock_enter(&cx_cudart_lock);
    if (!is_registered_locked(binary)) {
        cx_lock_leave(&cx_cudart_lock);
        free(self);
        return;
    }
    HASH_FIND_PTR(symbols, &host, old);
    if (old != NULL) {
        HASH_DEL(symbols, old);
        free(old);
    }
    HASH_ADD_PTR(symbols, host, self);
    cx_lock_leave(&cx_cudart_lock);
    if (!added)
        free(self);
}

void cx_cudart_kernel_add(cx_cudart_binary *binary, const void *host, const char *name)
{
    add_symbol(binary, host, name, KERNEL, false);
}

void cx_cudart_variable_add(cx_cudart_binary *binary, const void *host, const char *name)
{
    add_symbol(binary, host, name, VARIABLE, false);
}

void cx_cudart_managed_add(cx_cudart_binary *binary, void **out_host, const char *name)
{
    add_symbol(binary, out_host, name, MANAGED, false);
}

void cx_cudart_reference_add(cx_cudart_binary *binary, const void *host, const char *name,
                             bool is_surface, bool reads_floats)
{
    add_symbol(binary, host, name, is_surface ? SURFACE : TEXTURE, reads_floats);
}

/* ---- loading ---- */

/* Looked at once, and not before it is used: a program may have more kernels than it launches. */
static bool has_name_locked(symbol *self)
{
    self->has_text = self->has_text || cx_cudart_is_text(self->name);
    return self->has_text;
}

static cxr_error find_managed_locked(const cx_driver_table *driver, const symbol *self,
                                     CUdeviceptr *out_address, size_t *out_bytes)
{
    return (cxr_error)driver->library_get_managed(out_address, out_bytes, self->binary->library,
                                                  self->name);
}

static void set_pointers_locked(const cx_driver_table *driver, const cx_cudart_binary *binary)
{
    for (symbol *each = symbols; each != NULL; each = each->hh.next) {
        CUdeviceptr address;
        if (each->kind == MANAGED && each->binary == binary && has_name_locked(each) &&
            cx_cudart_is_writable(each->host, sizeof(void *)) &&
            find_managed_locked(driver, each, &address, NULL) == CXR_SUCCESS)
            *(void **)(uintptr_t)each->host = (void *)(uintptr_t)address;
    }
}

static cxr_error load_locked(cx_cudart_binary *self)
{
    const cx_driver_table *driver;
    if (self->library != NULL)
        return CXR_SUCCESS;
    if (!cx_cudart_image_is_whole(self->fat))
        return CXR_INVALID_KERNEL_IMAGE;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->library_load_data(&self->library, self->fat, NULL, NULL, 0, NULL,
                                                     NULL, 0);
    if (error != CXR_SUCCESS)
        return error;
    watch_exit_locked();
    set_pointers_locked(driver, self);
    return CXR_SUCCESS;
}

cxr_error cx_cudart_binary_load(cx_cudart_binary *self)
{
    cx_lock_enter(&cx_cudart_lock);
    cxr_error error = is_registered_locked(self) ? load_locked(self) : CXR_INVALID_RESOURCE_HANDLE;
    cx_lock_leave(&cx_cudart_lock);
    return error;
}

/* ---- kernels ---- */

static cxr_error find_kernel_locked(const void *host, CUkernel *out_kernel)
{
    const cx_driver_table *driver;
    symbol *self;
    HASH_FIND_PTR(symbols, &host, self);
    if (self == NULL || self->kind != KERNEL) {
        known_kernel *known;
        HASH_FIND_PTR(known_kernels, &host, known);
        if (known == NULL)
            return CXR_INVALID_DEVICE_FUNCTION;
        *out_kernel = known->kernel;
        return CXR_SUCCESS;
    }
    if (self->kernel == NULL) {
        cxr_error error = load_locked(self->binary);
        if (error == CXR_SUCCESS && !has_name_locked(self))
            error = CXR_SYMBOL_NOT_FOUND;
        if (error == CXR_SUCCESS)
            error = cx_cudart_use_driver(&driver);
        if (error == CXR_SUCCESS)
            error = (cxr_error)driver->library_get_kernel(&self->kernel, self->binary->library,
                                                          self->name);
        if (error != CXR_SUCCESS) {
            self->kernel = NULL;
            return error == CXR_SYMBOL_NOT_FOUND ? CXR_INVALID_DEVICE_FUNCTION : error;
        }
    }
    *out_kernel = self->kernel;
    return CXR_SUCCESS;
}

cxr_error cx_cudart_kernel_find(const void *host, CUkernel *out_kernel)
{
    cx_lock_enter(&cx_cudart_lock);
    cxr_error error = find_kernel_locked(host, out_kernel);
    cx_lock_leave(&cx_cudart_lock);
    return error;
}

void cx_cudart_kernel_know(CUkernel kernel, CUlibrary library)
{
    known_kernel *known;
    bool added = true;
    cx_lock_enter(&cx_cudart_lock);
    HASH_FIND_PTR(known_kernels, &kernel, known);
    if (known == NULL) {
        known = calloc(1, sizeof *known);
        if (known != NULL) {
            *known = (known_kernel){.kernel = kernel, .library = library};
            HASH_ADD_PTR(known_kernels, kernel, known);
            if (!added)
                free(known);
        }
    }
    cx_lock_leave(&cx_cudart_lock);
}

void cx_cudart_library_forget(CUlibrary library)
{
    known_kernel *each, *next;
    cx_lock_enter(&cx_cudart_lock);
    HASH_ITER (hh, known_kernels, each, next) {
        if (each->library != library)
            continue;
        forget_functions_locked(each->kernel);
        HASH_DEL(known_kernels, each);
        free(each);
    }
    cx_lock_leave(&cx_cudart_lock);
}

static function *find_function_locked(CUkernel kernel, CUcontext context)
{
    function *self;
    const function_key key = {kernel, context};
    HASH_FIND(hh, functions, &key, sizeof key, self);
    return self;
}

static void keep_function_locked(CUkernel kernel, CUcontext context, CUfunction driver_function,
                                 unsigned int resets)
{
    function *self = find_function_locked(kernel, context);
    bool added = true;
    if (self == NULL) {
        self = calloc(1, sizeof *self);
        if (self == NULL)
            return;
        self->key = (function_key){kernel, context};
        HASH_ADD(hh, functions, key, sizeof self->key, self);
        if (!added) {
            free(self);
            return;
        }
    }
    self->function = driver_function;
    self->resets = resets;
}

/* Functions are kept for primary contexts that this library retains: another context may end, and
 * the next one have its handle. */
static cxr_error function_of_locked(CUkernel kernel, CUfunction *out_function)
{
    const cx_driver_table *driver;
    const cx_cudart_thread *thread = cx_cudart_thread_get();
    bool is_kept = thread->current == thread->context;
    unsigned int resets = cx_cudart_resets();
    if (is_kept) {
        const function *self = find_function_locked(kernel, thread->current);
        if (self != NULL && self->resets == resets) {
            *out_function = self->function;
            return CXR_SUCCESS;
        }
    }
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->kernel_get_function(out_function, kernel);
    if (error == CXR_SUCCESS && is_kept)
        keep_function_locked(kernel, thread->current, *out_function, resets);
    return error;
}

cxr_error cx_cudart_function_of(CUkernel kernel, CUfunction *out_function)
{
    cx_lock_enter(&cx_cudart_lock);
    cxr_error error = function_of_locked(kernel, out_function);
    cx_lock_leave(&cx_cudart_lock);
    return error;
}

cxr_error cx_cudart_function_find(const void *host, CUfunction *out_function)
{
    CUkernel kernel;
    cx_lock_enter(&cx_cudart_lock);
    cxr_error error = find_kernel_locked(host, &kernel);
    if (error == CXR_SUCCESS)
        error = function_of_locked(kernel, out_function);
    cx_lock_leave(&cx_cudart_lock);
    return error;
}

static bool is_function_of(const cx_driver_table *driver, CUkernel kernel, CUfunction wanted)
{
    CUfunction found;
    return kernel != NULL && driver->kernel_get_function(&found, kernel) == CXU_SUCCESS &&
           found == wanted;
}

/* Functions of contexts of other code are not kept: the driver tells those of the present one. */
static CUkernel kernel_of_locked(CUfunction wanted)
{
    const cx_driver_table *driver;
    for (const function *each = functions; each != NULL; each = each->hh.next)
        if (each->function == wanted)
            return each->key.kernel;
    if (cx_cudart_use_driver(&driver) != CXR_SUCCESS)
        return NULL;
    for (const symbol *each = symbols; each != NULL; each = each->hh.next)
        if (each->kind == KERNEL && is_function_of(driver, each->kernel, wanted))
            return each->kernel;
    for (const known_kernel *each = known_kernels; each != NULL; each = each->hh.next)
        if (is_function_of(driver, each->kernel, wanted))
            return each->kernel;
    return NULL;
}

const void *cx_cudart_host_of(CUfunction driver_function)
{
    const void *host = driver_function;
    cx_lock_enter(&cx_cudart_lock);
    CUkernel kernel = kernel_of_locked(driver_function);
    if (kernel != NULL)
        host = kernel;
    for (const symbol *each = symbols; each != NULL && kernel != NULL; each = each->hh.next)
        if (each->kind == KERNEL && each->kernel == kernel) {
            host = each->host;
            break;
        }
    cx_lock_leave(&cx_cudart_lock);
    return host;
}

bool cx_cudart_function_forget(CUkernel kernel)
{
    cx_lock_enter(&cx_cudart_lock);
    function *self = find_function_locked(kernel, cx_cudart_thread_get()->current);
    if (self != NULL) {
        HASH_DEL(functions, self);
        free(self);
    }
    cx_lock_leave(&cx_cudart_lock);
    return self != NULL;
}

/* ---- variables ---- */

cxr_error cx_cudart_variable_find(const void *host, CUdeviceptr *out_address, size_t *out_bytes)
{
    const cx_driver_table *driver;
    symbol *self;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    cx_lock_enter(&cx_cudart_lock);
    HASH_FIND_PTR(symbols, &host, self);
    if (self == NULL || (self->kind != VARIABLE && self->kind != MANAGED))
        error = CXR_INVALID_SYMBOL;
    else
        error = load_locked(self->binary);
    if (error == CXR_SUCCESS && !has_name_locked(self))
        error = CXR_INVALID_SYMBOL;
    if (error == CXR_SUCCESS && self->kind == MANAGED)
        error = find_managed_locked(driver, self, out_address, out_bytes);
    else if (error == CXR_SUCCESS)
        error = (cxr_error)driver->library_get_global(out_address, out_bytes, self->binary->library,
                                                      self->name);
    cx_lock_leave(&cx_cudart_lock);
    return error == CXR_SYMBOL_NOT_FOUND ? CXR_INVALID_SYMBOL : error;
}

/* ---- references to textures and surfaces ---- */

cxr_error cx_cudart_reference_find(const void *host, bool is_surface,
                                   cx_cudart_reference *out_reference)
{
    symbol *self;
    cxr_error error = CXR_SUCCESS;
    cx_lock_enter(&cx_cudart_lock);
    HASH_FIND_PTR(symbols, &host, self);
    if (self == NULL || self->kind != (is_surface ? SURFACE : TEXTURE))
        error = is_surface ? CXR_INVALID_SURFACE : CXR_INVALID_TEXTURE;
    else
        error = load_locked(self->binary);
    if (error == CXR_SUCCESS && !has_name_locked(self))
        error = is_surface ? CXR_INVALID_SURFACE : CXR_INVALID_TEXTURE;
    if (error == CXR_SUCCESS)
        *out_reference = (cx_cudart_reference){self->binary->library, self->name,
                                               self->reads_floats, self->is_bound, self->offset};
    cx_lock_leave(&cx_cudart_lock);
    return error;
}

void cx_cudart_reference_note(const void *host, bool is_bound, size_t offset)
{
    symbol *self;
    cx_lock_enter(&cx_cudart_lock);
    HASH_FIND_PTR(symbols, &host, self);
    if (self != NULL) {
        self->is_bound = is_bound;
        self->offset = offset;
    }
    cx_lock_leave(&cx_cudart_lock);
}
