import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { cappedOutput, cappedText } from '../../io/capped-output.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { randomSuffix } from '../../io/ids.ts'
import { type OpenProcess, openProcess, type ProcessExit } from '../../io/open-process.ts'
import { environmentOf, listPids } from '../../io/process-table.ts'
import { startFailure } from '../../io/start-failure.ts'
import type { HandlerEnding, HandlerRun } from './contract.ts'
import { type LabPlace, sessionId } from './lab-place.ts'

export interface RunCommandRequest extends HandlerCommand {
  readonly cwd: string
  readonly stdin: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Output beyond this is counted, not stored. */
const keptBytes = 256 * 1024
/** How long its child processes may still write and exit. */
const lingerMs = 250
const graceMs = 300
const quietTurns = 5
const turnsMax = 1_000

/**
 * Starts a hook in its own process session, without a terminal, passes the event and resolves when it and all its child processes
 * are gone. Children that outlive it are counted. Rejects only when `signal` is aborted, after everything was killed.
 */
export async function runCommand(request: RunCommandRequest): Promise<HandlerRun> {
  request.signal.throwIfAborted()
  const mark = `GANTRY_HOOK_LAB_ID=${randomSuffix(16)}`
  const [markName = '', markValue = ''] = mark.split('=')
  const [stdout, stderr] = [cappedOutput(keptBytes), cappedOutput(keptBytes)]
  const startedAt = performance.now()
  const child = openProcess({
    argv: request.argv,
    cwd: request.cwd,
    env: { ...request.env, [markName]: markValue },
    onStderr: stderr.push,
  })
  const read = Promise.withResolvers<void>()
  child.stdout.on('data', (chunk: Uint8Array) => stdout.push(chunk)).on('close', () => read.resolve())
  child.stdin.end(`${request.stdin}\n`)
  const limit = new AbortController()
  const ended = await firstOf(child, request, limit)
  const durationMs = performance.now() - startedAt
  let leftBehind = 0
  if (ended !== 'late' && ended.error === undefined) {
    await Promise.race([read.promise, sleep(lingerMs, undefined, { signal: limit.signal }).catch(() => {})])
    await untilQuiet(() => stdout.totalBytes + stderr.totalBytes)
    leftBehind = await stillThere(mark)
  }
  await child.end({ waitMs: 0, graceMs: ended === 'late' ? graceMs : 0 })
  limit.abort()
  request.signal.throwIfAborted()
  return {
    ending: endingOf(request, ended),
    stdout: cappedText(stdout),
    stdoutBytes: stdout.totalBytes,
    stderr: cappedText(stderr),
    durationMs,
    leftBehind,
  }
}

async function firstOf(
  child: OpenProcess,
  { timeoutMs, signal }: RunCommandRequest,
  limit: AbortController,
): Promise<ProcessExit | 'late'> {
  const late = sleep(timeoutMs, 'late' as const, { signal: AbortSignal.any([signal, limit.signal]) })
  return Promise.race([child.exit, late.catch(() => 'late' as const)])
}

/** Output may still be in the pipes: it is complete when several turns of the event loop read nothing new. */
async function untilQuiet(readBytes: () => number): Promise<void> {
  for (let quiet = 0, seen = readBytes(), turn = 0; quiet < quietTurns && turn < turnsMax; turn++) {
    await nextTurn()
    quiet = readBytes() === seen ? quiet + 1 : 0
    seen = readBytes()
  }
}

/** The number of processes with this mark in their environment that do not end soon. 0 on systems that cannot list them. */
async function stillThere(mark: string): Promise<number> {
  for (let waitedMs = 0; ; waitedMs += 25) {
    const count = (listPids() ?? []).filter(
      (pid) => environmentOf(pid)?.split('\0').includes(mark) === true,
    ).length
    if (count === 0 || waitedMs >= lingerMs) return count
    await sleep(25)
  }
}

function endingOf(request: RunCommandRequest, ended: ProcessExit | 'late'): HandlerEnding {
  if (ended === 'late') return { kind: 'timed_out', limitMs: request.timeoutMs }
  if (ended.error !== undefined) {
    const code = 'code' in ended.error ? ended.error.code : null
    const problem =
      code === 'ENOENT' ? 'missing' : code === 'EACCES' || code === 'ENOEXEC' ? 'not_executable' : 'other'
    return { kind: 'not_started', problem, message: startFailure(request, ended.error) }
  }
  return ended.code === null
    ? { kind: 'signalled', signal: ended.signal ?? 'a signal' }
    : { kind: 'exited', exitCode: ended.code }
}

interface HandlerCommand {
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
}

export interface HandlerSetting {
  readonly event: string
  readonly place: LabPlace
  /** The caller's environment; only PATH and similar variables are taken from it. */
  readonly host: Readonly<Record<string, string | undefined>>
  /** Overrides everything else. */
  readonly variables: Readonly<Record<string, string>>
  /** User settings of the plugin by name, with their default values. */
  readonly userConfig: Readonly<Record<string, string>>
}

/** How Claude Code would start a command handler: directly when it has `args`, else in a shell. null when there is nothing to start. */
export function handlerCommand(
  handler: Readonly<Record<string, unknown>>,
  setting: HandlerSetting,
): HandlerCommand | null {
  const { command, args, shell } = handler
  if (typeof command !== 'string' || command.trim() === '') return null
  const env = handlerEnvironment(setting)
  const fill = filler(setting)
  if (Array.isArray(args)) {
    const words = args.filter((word) => typeof word === 'string')
    return { argv: [fill(command), ...words.map(fill)], env }
  }
  const line = fillPlaces(command, setting.place)
  if (shell === 'powershell') return { argv: ['pwsh', '-NoProfile', '-Command', line], env }
  return { argv: [shell === 'bash' ? 'bash' : 'sh', '-c', line], env }
}

/** The environment of a hook's process, without any variable of the caller that could be a secret. */
function handlerEnvironment({
  event,
  place,
  host,
  variables,
  userConfig,
}: HandlerSetting): Record<string, string> {
  const options = Object.entries(userConfig).map(
    ([key, value]) =>
      [`CLAUDE_PLUGIN_OPTION_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`, value] as const,
  )
  return hermeticEnv({
    host,
    home: place.home,
    tmp: place.tmp,
    extra: {
      CLAUDE_PROJECT_DIR: place.workspace,
      CLAUDE_PLUGIN_ROOT: place.pluginRoot,
      CLAUDE_PLUGIN_DATA: place.pluginData,
      CLAUDE_CODE_SESSION_ID: sessionId,
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_TMPDIR: place.tmp,
      CLAUDE_EFFORT: 'medium',
      CLAUDECODE: '1',
      ...(withEnvFile.has(event) && { CLAUDE_ENV_FILE: place.envFile }),
      ...Object.fromEntries(options),
      ...variables,
    },
  })
}

const withEnvFile: ReadonlySet<string> = new Set(['SessionStart', 'Setup', 'CwdChanged', 'FileChanged'])

/** `${user_config.…}` is expanded only where no shell could interpret it. */
function filler({ place, userConfig }: HandlerSetting): (text: string) => string {
  return (text) =>
    fillPlaces(text, place).replaceAll(/\$\{user_config\.([\w.-]+)\}/g, (written: string, key: string) =>
      Object.hasOwn(userConfig, key) ? (userConfig[key] ?? '') : written,
    )
}

function fillPlaces(text: string, { workspace, pluginRoot, pluginData }: LabPlace): string {
  const places = { PROJECT_DIR: workspace, PLUGIN_ROOT: pluginRoot, PLUGIN_DATA: pluginData }
  return text.replaceAll(
    /\$\{CLAUDE_(PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\}/g,
    (_, name: keyof typeof places) => places[name],
  )
}
