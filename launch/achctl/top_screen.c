/* top_screen.c: the terminal, by ncurses. */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launch/achctl/top.h"

#define ESCAPE_MS 25 /* longest pause within the sequence of a key, for ssh */

static SCREEN *screen;
static attr_t tones[TONES];

static void find_tones(void)
{
	const char *no = getenv("NO_COLOR");

	tones[TONE_HEAD] = tones[TONE_ODD] = A_BOLD;
	tones[TONE_BAD] = A_REVERSE | A_BOLD;
	tones[TONE_DIM] = A_DIM;
	tones[TONE_PICKED] = A_REVERSE;
	tones[TONE_GOOD] = tones[TONE_PLAIN] = A_NORMAL;
	if ((no && *no) || !has_colors() || start_color() == ERR || use_default_colors() == ERR)
		return;
	init_pair(1, COLOR_GREEN, -1);
	init_pair(2, COLOR_YELLOW, -1);
	init_pair(3, COLOR_RED, -1);
	tones[TONE_GOOD] = COLOR_PAIR(1);
	tones[TONE_ODD] = COLOR_PAIR(2);
	tones[TONE_BAD] = COLOR_PAIR(3) | A_BOLD;
}

int top_screen_begin(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	setlocale(LC_CTYPE, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENODEV;
	if (!tigetstr("cup")) {
		top_screen_end();
		return -ENODEV;
	}
	signal(SIGTSTP, SIG_DFL); /* not ncurses' handler: top_screen_suspend */
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	find_tones();
	return 0;
}

void top_screen_end(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void top_screen_suspend(void)
{
	sigset_t stop;

	endwin();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here the process stops, and goes on */
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

void top_screen_resume(void)
{
	reset_prog_mode();
	top_screen_resize();
}

/* SIGWINCH comes through a signalfd, so ncurses does not get it. */
void top_screen_resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

size_t top_screen_rows(void)
{
	return LINES > 0 ? (size_t)LINES : 1;
}

static void screen_text(struct paint *p, enum tone tone, const char *text)
{
	if (p->lines >= top_screen_rows())
		return;
	attrset((int)tones[tone]);
	addstr(text);
	attrset(A_NORMAL);
}

static void screen_end(struct paint *p)
{
	move((int)++p->lines, (int)p->left);
}

void top_screen_draw(struct top *top)
{
	struct paint paint = { screen_text, screen_end, 0, 0 };

	erase();
	move(0, 0);
	if (LINES > 0 && COLS > 0)
		top_draw(top, &paint, (size_t)COLS, (size_t)LINES);
	refresh();
}

int top_screen_key(void)
{
	static const struct {
		int key;
		enum top_key means;
	} keys[] = {
		{ ERR, TOP_NONE },	    { KEY_UP, TOP_UP },		  { KEY_DOWN, TOP_DOWN },
		{ KEY_PPAGE, TOP_PAGE_UP }, { KEY_NPAGE, TOP_PAGE_DOWN }, { ' ', TOP_PAGE_DOWN },
		{ KEY_HOME, TOP_HOME },
	};
	const int key = getch();

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].key == key)
			return keys[i].means;
	if (key == 'L' - '@') /* redraw */
		clearok(curscr, TRUE);
	return key >= ' ' && key < 128 ? TOP_LETTER + key : TOP_LETTER;
}
