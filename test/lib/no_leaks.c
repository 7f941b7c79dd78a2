/* no_leaks.c: linked into the tests of daemons and launch, which look for no leaks: what they test opens once and ends,
 * and to look takes 4 s of each program.  Those of config, channels and can do look. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
