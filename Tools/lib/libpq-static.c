// Debian's archive of libpq calls GSSAPI and LDAP, which have no archives of their own. A static vault-shared can use
// neither: here they refuse, and libpq goes on without them.
#include <stddef.h>
#include <stdint.h>

// GSS_S_UNAVAILABLE (RFC 2744, 3.9.1).
#define GSS_UNAVAILABLE (UINT32_C(16) << 16)
// LDAP_NOT_SUPPORTED (OpenLDAP's ldap.h).
#define LDAP_UNAVAILABLE (-12)

void *GSS_C_NT_HOSTBASED_SERVICE = NULL;

#define REFUSE_GSS(name) \
    uint32_t name(uint32_t *minor) { \
        if (minor) *minor = 0; \
        return GSS_UNAVAILABLE; \
    }
REFUSE_GSS(gss_acquire_cred)
REFUSE_GSS(gss_delete_sec_context)
REFUSE_GSS(gss_import_name)
REFUSE_GSS(gss_init_sec_context)
REFUSE_GSS(gss_release_buffer)
REFUSE_GSS(gss_release_cred)
REFUSE_GSS(gss_release_name)
REFUSE_GSS(gss_unwrap)
REFUSE_GSS(gss_wrap)
REFUSE_GSS(gss_wrap_size_limit)

typedef struct {
    size_t length;
    const void *value;
} gss_buffer;

// What libpq says where a server asks for Kerberos.
uint32_t gss_display_status(
    uint32_t *minor, uint32_t status, int type, void *mechanism, uint32_t *context, gss_buffer *message) {
    static const char words[] =
        "this vault-shared is linked without Kerberos; \"Tools/install --shared=dynamic\" installs one that has it";
    (void)status, (void)mechanism;
    // GSS_C_GSS_CODE: the other kind is the mechanism's own.
    if (type != 1) return GSS_UNAVAILABLE;
    *minor = *context = 0;
    *message = (gss_buffer){sizeof words - 1, words};
    return 0;
}

#define REFUSE_LDAP(name) \
    int name(void) { return LDAP_UNAVAILABLE; }
REFUSE_LDAP(ldap_count_entries)
REFUSE_LDAP(ldap_msgfree)
REFUSE_LDAP(ldap_result)
REFUSE_LDAP(ldap_search_st)
REFUSE_LDAP(ldap_set_option)
REFUSE_LDAP(ldap_simple_bind)
REFUSE_LDAP(ldap_unbind)
REFUSE_LDAP(ldap_value_free_len)

#define HAVE_NO_LDAP(name) \
    void *name(void) { return NULL; }
HAVE_NO_LDAP(ldap_err2string)
HAVE_NO_LDAP(ldap_first_entry)
HAVE_NO_LDAP(ldap_get_values_len)
HAVE_NO_LDAP(ldap_init)
