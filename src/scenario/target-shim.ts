import { basename, delimiter, join } from 'node:path'
import type { TargetCallEvent, Untimed } from '../core/event.ts'
import { makeDirectories } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { findProgram } from '../io/find-program.ts'
import { directoryNames } from '../io/list-directory.ts'
import { writePrivateProgram } from '../io/private-files.ts'
import { readShortText } from '../io/read-short-text.ts'
import { textBeside } from '../io/text-beside.ts'
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
const script = textBeside(import.meta.url, './target-shim.pl')
