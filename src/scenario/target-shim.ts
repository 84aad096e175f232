import { basename, delimiter, join } from 'node:path'
import type { TargetCallEvent, Untimed } from '../core/event.ts'
import { makeDirectories } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { findProgram } from '../io/find-program.ts'
import { directoryNames } from '../io/list-directory.ts'
import { writePrivateProgram } from '../io/private-files.ts'
import { readShortText } from '../io/read-short-text.ts'
import type { Case } from './case.ts'
import type { TrialPlace } from './trial-work.ts'

/**
 * A program with the name of the target, first on the agent's PATH, that runs the target and records each call. The records are as
 * trustworthy as the agent's own stream: they are outside the workspace, but belong to the same user.
 */
export interface TargetShim {
  /** For the agent only: setup, scripts and gates call the target itself. */
  readonly env: Readonly<Record<string, string>>
  /** The text as it would be without the shim, so that a recording does not depend on it. */
  hide(text: string): string
  /** The calls so far, oldest first. Removes the shim and its records. */
  finish(): readonly Untimed<TargetCallEvent>[]
}

export type ShimSetup =
  | { readonly kind: 'ready'; readonly shim: TargetShim }
  /** A target in the workspace, one that agents start for themselves, or one that is not installed yet. */
  | { readonly kind: 'unfit' }
  /** Something is missing on this machine. */
  | { readonly kind: 'impossible'; readonly reason: string }

export function openTargetShim(
  { target, targetProgram }: Pick<Case, 'target' | 'targetProgram'>,
  place: TrialPlace,
  env: Readonly<Record<string, string>>,
): ShimSetup {
  const name = basename(targetProgram ?? target.binary)
  const { PATH: path = '' } = env
  const isInWorkspace = targetProgram === null && target.binary.includes('/')
  const real = isInWorkspace || startedByAgents.has(name) ? null : findProgram(name, path)
  if (real === null) return { kind: 'unfit' }
  const perl = findProgram('perl', path)
  if (perl === null || process.platform === 'win32') return impossible('perl is not installed')
  const { bin, calls } = place
  const places = [calls, join(place.tmp, '.calls')]
  for (const directory of [bin, calls]) makeDirectories(directory)
  const program = join(bin, name)
  if (!writePrivateProgram(program, `#!${perl}\n${settings(bin, real, places)}${script}`)) {
    removeTree(bin)
    return impossible(`programs in ${bin} cannot be run`)
  }
  return {
    kind: 'ready',
    shim: {
      // Perl must not print a warning where the agent chooses a locale that is not installed.
      env: { PATH: `${bin}${delimiter}${path}`, PERL_BADLANG: '0' },
      hide: (text) => text.replaceAll(`${bin}${delimiter}`, '').replaceAll(program, real),
      finish: () => {
        const found = places.flatMap(readCalls).sort((a, b) => a.started - b.started)
        for (const directory of [bin, ...places]) removeTree(directory)
        return withinLimit(found)
      },
    },
  }
}

function impossible(reason: string): ShimSetup {
  return { kind: 'impossible', reason }
}

/** Programs that agents run for their own purposes. Such calls say nothing about the use of the target. */
const startedByAgents = new Set(
  'sh bash dash zsh fish ksh env perl node npm npx bun python python3 git rg grep find ls cat head tail sed awk ps uname which mkdir rm'.split(
    ' ',
  ),
)

const maxCalls = 10_000
const maxRecordBytes = 512 * 1024
const maxOutputChars = 2_000_000

function readCalls(directory: string): Untimed<TargetCallEvent>[] {
  const names = directoryNames(directory, maxCalls) ?? []
  return names.flatMap(({ name }) => readCall(readShortText(join(directory, name), maxRecordBytes) ?? ''))
}

/** Pure: one record. A call that never ended has only its first lines. */
export function readCall(record: string): Untimed<TargetCallEvent>[] {
  const lines = record.split('\n').map((line) => line.split(' '))
  const all = (key: string): string[] => lines.flatMap(([name, value]) => (name === key ? [value ?? ''] : []))
  const text = (hex: string): string => Buffer.from(hex, 'hex').toString('utf8')
  const started = Number(all('start')[0] ?? Number.NaN)
  if (!Number.isFinite(started)) return []
  const [cwd = ''] = all('cwd')
  const [exit] = all('exit')
  const [signal] = all('signal')
  const [end] = all('end')
  const [stdout] = all('out1')
  const [stderr] = all('out2')
  return [
    {
      event: 'target_call',
      args: all('arg').map(text),
      cwd: text(cwd),
      started,
      exit_code: exit !== undefined ? Number(exit) : signal === undefined ? null : 128 + Number(signal),
      ...(end !== undefined && { duration_secs: Math.max(0, Number(end) - started) }),
      ...(stdout !== undefined && { stdout: text(stdout) }),
      ...(stderr !== undefined && { stderr: text(stderr) }),
      ...(all('cut').length > 0 && { cut_off: true }),
    },
  ]
}

/** A tool that is called in a loop must not fill the log with its output. */
function withinLimit(calls: readonly Untimed<TargetCallEvent>[]): Untimed<TargetCallEvent>[] {
  let chars = 0
  return calls.map(({ stdout, stderr, ...call }) => {
    chars += (stdout?.length ?? 0) + (stderr?.length ?? 0)
    if (chars > maxOutputChars) return call
    return { ...call, ...(stdout !== undefined && { stdout }), ...(stderr !== undefined && { stderr }) }
  })
}

/** Numbers of system calls that Perl has no function for. Elsewhere times are whole seconds, and SIGKILL does not reach the tool. */
const systemCalls: Readonly<Record<string, readonly [prctl: number, clockGettime: number]>> = {
  'linux x64': [157, 228],
  'linux arm64': [167, 113],
}

function settings(bin: string, real: string, places: readonly string[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const isLinux = process.platform === 'linux'
  const [prctl, clock] = systemCalls[`${process.platform} ${process.arch}`] ?? [0, 0]
  return `my ($bin, $known, @places) = (${[bin, real, ...places].map(quoted).join(', ')});
my ($prctl, $clock, $linux, $append) = (${prctl}, ${clock}, ${isLinux ? '1, 02000' : '0, 8'});
`
}

/**
 * Perl, because a shell cannot forward a signal and keep the tool in the foreground, and Node starts too slowly. No modules: loading
 * one takes longer than everything here.
 *
 * - The tool gets the PATH without the shim, so calls that it makes itself are not recorded.
 * - A terminal and a file stay as they are. A pipe or socket is read through another pipe and passed on at once; one pipe for both
 *   streams stays one. When its reader goes away, the tool gets SIGPIPE as without the shim.
 * - The second half is compiled while the tool already runs.
 */
const script = String.raw`
my ($name) = $0 =~ m{([^/]*)$};
my ($real, $log, $pid, @taps, %file);
$ENV{PATH} = join ':', grep { $_ ne $bin } split /:/, $ENV{PATH}, -1;
for (split /:/, $ENV{PATH}, -1) {
  my $at = ($_ eq '' ? '.' : $_) . "/$name";
  if (-f $at && -x _) { $real = $at; last }
}
$real = $known unless defined $real;
sub run { exec { $real } $name, @ARGV; print STDERR "$name: $!\n"; exit($! == 2 ? 127 : 126) }
sub now {
  my $time = "\0" x 16;
  return time unless $clock && syscall($clock, 0, $time) == 0;
  sprintf '%d.%09d', unpack 'qq', $time;
}
# A closed stream must not be taken by a file of this program. Perl may have opened its script there.
my @to = (*STDIN, *STDOUT, *STDERR);
my $self = (stat $0)[1];
my @closed = grep { my @at = stat $_; !@at || $at[1] == $self } @to;
open $_, '+<', '/dev/null' for @closed;
my ($start, $max, $size) = (now(), 4096, 0);
for (@places) { mkdir $_, 0700; last if open $log, '>', "$_/$start-$$" }
if (!defined fileno $log) { close $_ for @closed; run() }
syswrite $log, join "\n", "start $start", 'cwd ' . unpack('H*', readlink('/proc/self/cwd') || $ENV{PWD}),
  (map { 'arg ' . unpack 'H*', substr $_, 0, $max } grep { ($size += length) < 65536 } @ARGV), '';
my @stat = map { [stat $_] } @to;
my $same = $stat[1][1] == $stat[2][1] && $stat[1][0] == $stat[2][0];
for my $fd (1, 2) {
  next if $fd == 2 && $same;
  my $type = $stat[$fd][2] & 0170000;
  if ($type == 0010000 || $type == 0140000) {
    my ($r, $w);
    push @taps, { fd => $fd, type => $type, r => $r, w => $w } if pipe $r, $w;
  }
  elsif ($type == 0100000) { $file{$fd} = fcntl($to[$fd], 3, 0) & $append ? $stat[$fd][7] : sysseek $to[$fd], 0, 1 }
}
my @signals = grep { $SIG{$_} ne 'IGNORE' } qw(HUP INT QUIT TERM USR1 USR2);
my $typed = -t STDIN || -t STDERR;
for my $signal (@signals) {
  # A terminal sends these two to the tool as well.
  $SIG{$signal} = sub { kill $signal, $pid if $pid && !($typed && $signal =~ /INT|QUIT/) };
}
my $child = $SIG{CHLD};
$SIG{CHLD} = sub { };
$pid = fork;
if (!$pid) {
  $SIG{$_} = 'DEFAULT' for @signals;
  $SIG{CHLD} = $child eq 'IGNORE' ? $child : 'DEFAULT';
  run() unless defined $pid;
  syscall $prctl, 1, 9 if $prctl;
  open $to[$_->{fd}], '>&', $_->{w} for @taps;
  open STDERR, '>&', STDOUT if $same && @taps;
  close $_ for @closed;
  run();
}
eval <<'REST';
for (@taps) {
  close $_->{w};
  # Only for a pipe that can be written and not read, "readable" means that its reader is gone.
  $_->{watched} = $linux && $_->{type} == 0010000 && (fcntl($to[$_->{fd}], 3, 0) & 3) == 1;
}
$SIG{PIPE} = 'IGNORE';
my ($status, $cut, %said);
sub pump {
  my ($waits) = @_;
  while (@taps) {
    my $ready = '';
    for (@taps) { vec($ready, fileno $_->{r}, 1) = 1; vec($ready, $_->{fd}, 1) = 1 if $_->{watched} }
    my $count = select $ready, undef, undef, defined $status && !$waits ? 0 : 0.05;
    last if $count == 0 && defined $status && !$waits;
    @taps = grep { passes($_, $ready) } @taps if $count > 0;
    $status = $? if !defined $status && waitpid($pid, 1) == $pid;
  }
}
sub passes {
  my ($tap, $ready) = @_;
  if ($tap->{watched} && vec $ready, $tap->{fd}, 1) { $cut = 1; close $tap->{r}; return 0 }
  return 1 unless vec $ready, fileno $tap->{r}, 1;
  my $count = sysread $tap->{r}, my $chunk, 65536;
  $said{$tap->{fd}} = substr $said{$tap->{fd}} . $chunk, -$max if $count;
  while ($count && length $chunk) {
    my $written = syswrite $to[$tap->{fd}], $chunk;
    if (defined $written) { substr $chunk, 0, $written, '' }
    elsif ($! == 11 || $! == 35) { my $full = ''; vec($full, $tap->{fd}, 1) = 1; select undef, $full, undef, undef }
    elsif ($! != 4) { $cut = 1; close $tap->{r}; return 0 }
  }
  return $count;
}
pump(0);
until (defined $status) {
  my $ended = waitpid $pid, 0;
  $status = $? if $ended == $pid;
  last if $ended < 0 && $! == 10;
}
for (keys %file) {
  my $end = sysseek $to[$_], 0, 1;
  my $from = $end - $file{$_} > $max ? $end - $max : $file{$_};
  next unless $end > $from && open my $in, '<', "/proc/self/fd/$_";
  sysseek $in, $from, 0;
  sysread $in, $said{$_}, $end - $from;
}
my $signal = $status & 127;
syswrite $log, join "\n", (map { "out$_ " . unpack 'H*', $said{$_} } keys %said), $cut ? 'cut 1' : (),
  $signal ? "signal $signal" : 'exit ' . ($status >> 8), 'end ' . now(), '';
close $log;
# A background process of the tool may still write.
if (@taps && !fork) {
  close STDIN;
  for my $fd (1, 2) { close $to[$fd] unless grep { $_->{fd} == $fd } @taps }
  pump(1);
  exit;
}
if ($signal) {
  syscall $prctl, 4, 0 if $prctl;
  $SIG{$_} = 'DEFAULT' for @signals, 'PIPE';
  kill $signal, $$;
  exit 128 + $signal;
}
exit $status >> 8;
REST
`
