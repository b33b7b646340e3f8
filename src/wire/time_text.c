/* time_text.c - days to dates and back by arithmetic (proleptic Gregorian calendar). The
 * functions of libc lock and read time zones, which is too slow for lists with four times per
 * task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/time_text.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)
#define TIME_MS_MAX ((int64_t)253402300799999) /* 9999-12-31T23:59:59.999Z */

/* Days from 0000-03-01 to 1970-01-01; days of 400 years. */
enum { DAYS_TO_1970 = 719468, ERA_DAYS = 146097 };

struct date {
    int64_t year;
    int64_t month; /* 1..12 */
    int64_t day;   /* 1..31 */
};

/* Years are counted from 1 March, so that the leap day is the last day of a year. */
static struct date date_of(int64_t days)
{
    int64_t shifted = days + DAYS_TO_1970;
    int64_t era = shifted / ERA_DAYS;
    int64_t day_of_era = shifted % ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * day_of_year + 2) / 153;
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
    return (struct date){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = day_of_year - (153 * from_march + 2) / 5 + 1,
    };
}

static int64_t days_of(struct date date)
{
    int64_t year = date.year - (date.month <= 2);
    int64_t era = year / 400;
    int64_t year_of_era = year % 400;
    int64_t from_march = date.month > 2 ? date.month - 3 : date.month + 9;
    int64_t day_of_year = (153 * from_march + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - DAYS_TO_1970;
}

static char *digits_put(char *out, int64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + count;
}

void time_text(int64_t ms, char *out)
{
    ms = ms < 0 ? 0 : ms > TIME_MS_MAX ? TIME_MS_MAX : ms;
    struct date date = date_of(ms / DAY_MS);
    int64_t rest = ms % DAY_MS;
    out = digits_put(out, date.year, 4);
    *out++ = '-';
    out = digits_put(out, date.month, 2);
    *out++ = '-';
    out = digits_put(out, date.day, 2);
    *out++ = 'T';
    out = digits_put(out, rest / 3600000, 2);
    *out++ = ':';
    out = digits_put(out, rest / 60000 % 60, 2);
    *out++ = ':';
    out = digits_put(out, rest / 1000 % 60, 2);
    *out++ = '.';
    out = digits_put(out, rest % 1000, 3);
    *out++ = 'Z';
    *out = '\0';
}

void time_text_json(struct json_out *j, const char *key, int64_t ms)
{
    json_out_key(j, key);
    if (ms == 0) {
        json_out_null(j);
        return;
    }
    char text[TIME_TEXT_MAX];
    time_text(ms, text);
    json_out_text(j, text);
}

/* Cuts a number of `count` digits off the front and checks that it is from `min` to `max`. */
static bool number_cut(struct str *text, size_t count, int64_t min, int64_t max, int64_t *ret)
{
    uint64_t value;
    if (text->len < count || !str_to_u64((struct str){text->p, count}, &value)) {
        return false;
    }
    *ret = (int64_t)value;
    text->p += count;
    text->len -= count;
    return *ret >= min && *ret <= max;
}

static bool char_cut(struct str *text, char c)
{
    if (text->len == 0 || text->p[0] != c) {
        return false;
    }
    text->p++;
    text->len--;
    return true;
}

static bool date_cut(struct str *text, struct date *ret)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!number_cut(text, 4, 1970, 9999, &ret->year) || !char_cut(text, '-') ||
        !number_cut(text, 2, 1, 12, &ret->month) || !char_cut(text, '-') ||
        !number_cut(text, 2, 1, 31, &ret->day)) {
        return false;
    }
    bool leap = ret->year % 4 == 0 && (ret->year % 100 != 0 || ret->year % 400 == 0);
    return ret->day <= month_days[ret->month - 1] + (leap && ret->month == 2);
}

/* Cuts ".123" off the front, in milliseconds. Further digits are dropped. */
static bool fraction_cut(struct str *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (!char_cut(text, '.')) {
        return true;
    }
    int64_t scale = 100;
    int64_t digit;
    bool any = false;
    while (text->len > 0 && number_cut(text, 1, 0, 9, &digit)) {
        *ret_ms += digit * scale;
        scale /= 10;
        any = true;
    }
    return any;
}

/* Cuts "Z" or "+01:00" off the front: how far the time is ahead of UTC. */
static bool offset_cut(struct str *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (char_cut(text, 'Z') || char_cut(text, 'z')) {
        return true;
    }
    bool behind = text->len > 0 && text->p[0] == '-';
    int64_t hours;
    int64_t minutes;
    if (!char_cut(text, behind ? '-' : '+') || !number_cut(text, 2, 0, 23, &hours) ||
        !char_cut(text, ':') || !number_cut(text, 2, 0, 59, &minutes)) {
        return false;
    }
    *ret_ms = (hours * 60 + minutes) * (behind ? -60000 : 60000);
    return true;
}

bool time_text_parse(struct str text, int64_t *ret_ms)
{
    struct date date;
    int64_t hour;
    int64_t minute;
    int64_t second;
    int64_t fraction;
    int64_t offset;
    if (!date_cut(&text, &date) || !(char_cut(&text, 'T') || char_cut(&text, ' ')) ||
        !number_cut(&text, 2, 0, 23, &hour) || !char_cut(&text, ':') ||
        !number_cut(&text, 2, 0, 59, &minute) || !char_cut(&text, ':') ||
        !number_cut(&text, 2, 0, 60, &second) || !fraction_cut(&text, &fraction) ||
        !offset_cut(&text, &offset) || text.len > 0) {
        return false;
    }
    int64_t ms = days_of(date) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
    if (ms < offset) {
        return false;
    }
    *ret_ms = ms - offset;
    return true;
}
