/*
 * validate SCHEMA [FILE] says whether a JSON text fits a JSON Schema. It knows the keywords below
 * and refuses a schema with others, so that none is passed over.
 */
#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const json_t *root;
static int wrong;

static void complain(const char *path, const char *what)
{
    printf("%s: %s\n", *path != '\0' ? path : "(all)", what);
    wrong++;
}

static void check(const json_t *schema, const json_t *value, const char *path);

static bool is_type(const char *name, const json_t *value)
{
    static const struct {
        const char *name;
        json_type type;
    } types[] = {{"object", JSON_OBJECT}, {"array", JSON_ARRAY},   {"string", JSON_STRING},
                 {"integer", JSON_INTEGER}, {"null", JSON_NULL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return json_typeof(value) == types[i].type;
    return (strcmp(name, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(name, "number") == 0 && json_is_number(value));
}

static void check_type(const json_t *rule, const json_t *value, const char *path)
{
    bool fits = json_is_string(rule) && is_type(json_string_value(rule), value);
    for (size_t i = 0; i < json_array_size(rule); i++)
        fits = fits || is_type(json_string_value(json_array_get(rule, i)), value);
    if (!fits)
        complain(path, "is of another type");
}

static void check_enum(const json_t *rule, const json_t *value, const char *path)
{
    for (size_t i = 0; i < json_array_size(rule); i++)
        if (json_equal(json_array_get(rule, i), value))
            return;
    complain(path, "is none of the values");
}

static void check_const(const json_t *rule, const json_t *value, const char *path)
{
    if (!json_equal(rule, value))
        complain(path, "is not the constant");
}

static void check_minimum(const json_t *rule, const json_t *value, const char *path)
{
    if (json_is_number(value) && json_number_value(value) < json_number_value(rule))
        complain(path, "is less than the minimum");
}

static void check_pattern(const json_t *rule, const json_t *value, const char *path)
{
    regex_t pattern;
    if (!json_is_string(value))
        return;
    if (regcomp(&pattern, json_string_value(rule), REG_EXTENDED | REG_NOSUB) != 0) {
        complain(path, "the pattern of the schema is none");
        return;
    }
    if (regexec(&pattern, json_string_value(value), 0, NULL, 0) != 0)
        complain(path, "does not match the pattern");
    regfree(&pattern);
}

static void check_required(const json_t *rule, const json_t *value, const char *path)
{
    char below[512];
    for (size_t i = 0; json_is_object(value) && i < json_array_size(rule); i++) {
        const char *name = json_string_value(json_array_get(rule, i));
        snprintf(below, sizeof below, "%s/%s", path, name);
        if (json_object_get(value, name) == NULL)
            complain(below, "is missing");
    }
}

static void check_items(const json_t *rule, const json_t *value, const char *path)
{
    char below[512];
    for (size_t i = 0; i < json_array_size(value); i++) {
        snprintf(below, sizeof below, "%s/%zu", path, i);
        check(rule, json_array_get(value, i), below);
    }
}

static void check_properties(const json_t *rule, const json_t *value, const char *path)
{
    char below[512];
    const char *name;
    json_t *property;
    json_object_foreach((json_t *)rule, name, property)
    {
        const json_t *found = json_object_get(value, name);
        snprintf(below, sizeof below, "%s/%s", path, name);
        if (found != NULL)
            check(property, found, below);
    }
}

static void check_ref(const json_t *rule, const json_t *value, const char *path)
{
    const char *name = json_string_value(rule);
    const json_t *found = strncmp(name, "#/$defs/", 8) == 0
                              ? json_object_get(json_object_get(root, "$defs"), name + 8)
                              : NULL;
    if (found == NULL)
        complain(path, "the schema has a reference to nothing");
    else
        check(found, value, path);
}

/* Of additionalProperties only `false` is known. */
static void check_additional(const json_t *schema, const json_t *value, const char *path)
{
    char below[512];
    const char *name;
    json_t *property;
    json_object_foreach((json_t *)value, name, property)
    {
        snprintf(below, sizeof below, "%s/%s", path, name);
        if (json_object_get(json_object_get(schema, "properties"), name) == NULL)
            complain(below, "is no property of the schema");
    }
}

static const struct {
    const char *name;
    void (*check)(const json_t *rule, const json_t *value, const char *path);
} keywords[] = {
    {"type", check_type},         {"enum", check_enum},       {"const", check_const},
    {"minimum", check_minimum},   {"pattern", check_pattern}, {"required", check_required},
    {"items", check_items},       {"$ref", check_ref},        {"properties", check_properties},
    {"title", NULL},              {"description", NULL},      {"$schema", NULL},
    {"$id", NULL},                {"$defs", NULL},
};

static void check_keyword(const char *name, const json_t *rule, const json_t *value,
                          const char *path)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(keywords[i].name, name) == 0) {
            if (keywords[i].check != NULL)
                keywords[i].check(rule, value, path);
            return;
        }
    complain(path, "the schema has an unknown keyword");
}

static void check(const json_t *schema, const json_t *value, const char *path)
{
    const char *name;
    json_t *rule;
    json_object_foreach((json_t *)schema, name, rule)
    {
        if (strcmp(name, "additionalProperties") == 0 && json_is_false(rule))
            check_additional(schema, value, path);
        else
            check_keyword(name, rule, value, path);
    }
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *schema = argc >= 2 ? json_load_file(argv[1], 0, &error) : NULL;
    if (schema == NULL) {
        puts("validate: there is no schema");
        return 2;
    }
    json_t *value = argc > 2 ? json_load_file(argv[2], JSON_REJECT_DUPLICATES, &error)
                             : json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
    if (value == NULL) {
        printf("validate: line %d: %s\n", error.line, error.text);
        return 2;
    }
    root = schema;
    check(schema, value, "");
    json_decref(value);
    json_decref(schema);
    return wrong != 0;
}
