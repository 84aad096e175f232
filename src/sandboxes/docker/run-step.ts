import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { asInteger, asObject } from '../../core/json-fields.ts'
import { stripSetuid } from '../../io/file-owner.ts'
import { streamOverUnixHttp } from '../../io/unix-http.ts'
import { quoteWord } from '../../shell/quote-word.ts'
import type { SandboxFailure, SandboxStep, SandboxStepEnd } from '../contract.ts'
import { watchDisk } from '../disk-watch.ts'
import { isDiskFull } from '../state.ts'
import { callEngine, type EngineCall, type EngineRefusal, failureOf, gone, onWire } from './call-engine.ts'
import { type Container, endLeftovers, execState, idIn, killFromOutside } from './container.ts'
import { machineOomKills } from './container-cgroup.ts'
import { inspectContainer } from './inspect-container.ts'
import { untilInterrupted } from './until-interrupted.ts'
import { userOf } from './workspace.ts'

/**
 * One command in the container, as the step's user. When it settles no process of it is alive. Rejects with errors of
 * `output`.
 */
export async function runStep(container: Container, step: SandboxStep): Promise<SandboxStepEnd> {
  const tooFull = new AbortController()
  const signal = AbortSignal.any([step.signal, container.ended, tooFull.signal])
  if (signal.aborted) return { kind: 'cancelled' }
  if (container.spent !== null)
    return failed({ type: 'unknown', message: `The sandbox has ended: ${container.spent}.` })
  const countOoms = watchOoms(container)
  const { diskBytes } = container.request.limits
  const over = { kind: 'exceeded', limit: 'disk', bytes: diskBytes } as const
  using disk = watchDisk(container.counted, diskBytes, () => tooFull.abort())
  const said = beginningOf(4_096)
  const interruption = untilInterrupted({ timeoutMs: step.timeoutMs, signal })
  const output = demultiplex((content) => {
    said.add(content)
    interruption.guard(() => step.output(content))
  })
  const started =
    container.first === null
      ? await startExec(container, step, output)
      : startFirst(container, container.first, step, output)
  if (started.kind === 'failed') {
    interruption.stop()
    return started
  }
  const { stream, end } = started
  const first = await Promise.race([end.then(() => 'ended' as const), interruption.happened])
  interruption.stop()
  if (first !== 'ended') {
    const problem = await endLeftovers(container)
    await lastOutput(stream.ended)
    stream.close()
    interruption.rethrow()
    if (tooFull.signal.aborted) return over
    return stopped(container, first, problem)
  }
  const state = await end
  if (state.kind === 'lost') {
    killFromOutside(container)
    stream.close()
    if (container.ended.aborted) return { kind: 'cancelled' }
    return failed(state.failure)
  }
  if (container.first === null) await endLeftovers(container)
  // No process is left that could write: the remaining output arrives at once.
  await lastOutput(stream.ended)
  stream.close()
  interruption.rethrow()
  disarm(container)
  // Closing a sandbox ends the step, which is not the step's fault.
  if (container.ended.aborted) return { kind: 'cancelled' }
  const judged = await judge(container, state, said.text(), await countOoms())
  return judged.kind !== 'exceeded' && disk.isExceeded() ? over : judged
}

const outputGraceMs = 2_000

/** An unused timer must not keep the process alive: the connection does that while it exists. */
async function lastOutput(ended: Promise<unknown>): Promise<void> {
  await Promise.race([ended, sleep(outputGraceMs, undefined, { ref: false })])
}

type StartedStep =
  | Extract<SandboxStepEnd, { kind: 'failed' }>
  | {
      readonly kind: 'started'
      /** Of its output. */
      readonly stream: { readonly ended: Promise<unknown>; close(): void }
      readonly end: Promise<ExecEnd>
    }

/** Lets the waiting shell become the step. It reads a line of a script, because only its standard input is open to us. */
function startFirst(
  container: Container,
  first: Duplex,
  step: SandboxStep,
  output: (chunk: Uint8Array) => void,
): StartedStep {
  const { connection, name, env, shell } = container
  container.spent = 'its only step has run'
  const ended = new Promise<void>((settle) => first.on('data', output).once('close', settle))
  const variables = [...env, ...variablesOf(step)].map((variable) => {
    const [key = '', ...value] = variable.split('=')
    return `${key}=${quoteWord(value.join('='))}`
  })
  const fixed = variables.filter((each) => fixedInBash.test(each))
  const exported = variables.filter((each) => !fixed.includes(each)).join(' ')
  const through = fixed.length === 0 ? '' : `/usr/bin/env ${fixed.join(' ')} `
  first.end(`export ${exported}; exec ${through}${shell} -c ${quoteWord(step.command)} </dev/null 2>&1\n`)
  const waiting = callEngine(connection, {
    method: 'POST',
    path: `/containers/${name}/wait`,
    timeoutMs: 2 ** 31 - 1,
  })
  const end = waiting.then((answer): ExecEnd => {
    const exitCode = answer.kind === 'done' ? asInteger(asObject(answer.value)?.StatusCode) : undefined
    if (exitCode !== undefined) return { kind: 'ended', exitCode, wasStarted: true }
    const failure: SandboxFailure =
      answer.kind === 'gone' || answer.kind === 'refused'
        ? failureOf(answer, 'unknown', 'the step was lost')
        : { type: 'unknown', message: 'The engine gave no exit code for the step.' }
    return { kind: 'lost', failure }
  })
  return { kind: 'started', stream: { ended, close: () => first.destroy() }, end }
}

/** Bash as sh ends when one of these is exported. */
const fixedInBash = /^(?:UID|EUID|PPID|SHELLOPTS|BASHOPTS|BASH_VERSINFO)=/

async function startExec(
  container: Container,
  step: SandboxStep,
  output: (chunk: Uint8Array) => void,
): Promise<StartedStep> {
  const { connection } = container
  const created = await createExec(container, step)
  if (created.kind === 'failed') return created
  const call: EngineCall = {
    method: 'POST',
    path: `/exec/${created.id}/start`,
    body: { Detach: false, Tty: false },
  }
  const stream = await streamOverUnixHttp({ ...onWire(connection, call), timeoutMs: 60_000 }, output)
  if (stream.kind === 'stream')
    return { kind: 'started', stream, end: execEnd(container, created.id, stream.ended) }
  killFromOutside(container)
  const reason = stream.kind === 'aborted' ? 'interrupted' : stream.message
  return failed(failureOf(gone(connection, reason), 'docker_unavailable', ''))
}

function variablesOf({ env }: SandboxStep): readonly string[] {
  return Object.entries(env).map(([key, value]) => `${key}=${value}`)
}

async function createExec(
  { connection, name, user, env, shell }: Container,
  step: SandboxStep,
): Promise<{ readonly kind: 'created'; readonly id: string } | Extract<SandboxStepEnd, { kind: 'failed' }>> {
  const answer = await callEngine(connection, {
    method: 'POST',
    path: `/containers/${name}/exec`,
    body: {
      // One pipe for both, to keep their order.
      Cmd: [shell, '-c', `exec ${shell} -c "$0" 2>&1`, step.command],
      Env: [...env, ...variablesOf(step)],
      User: userOf(user),
      WorkingDir: '/workspace',
      AttachStdout: true,
      AttachStderr: true,
    },
  })
  const id = answer.kind === 'done' ? idIn(answer.value) : null
  if (id !== null) return { kind: 'created', id }
  if (answer.kind === 'aborted' || answer.kind === 'done')
    return failed({ type: 'unknown', message: 'The engine gave no id for the step.' })
  return failed(failureOf(answer, 'unknown', 'the step cannot be started'))
}

type ExecEnd =
  | { readonly kind: 'ended'; readonly exitCode: number; readonly wasStarted: boolean }
  | { readonly kind: 'lost'; readonly failure: SandboxFailure }

/**
 * The engine sends an event when a step has ended. Its output ends too, but only after that of its background
 * processes. An engine without such events is polled.
 */
async function execEnd(
  { connection, events }: Container,
  id: string,
  outputEnded: Promise<unknown>,
): Promise<ExecEnd> {
  for (let tries = 0; ; tries++) {
    const containerEnd = Promise.race([events.endOf(id), outputEnded])
    const isEnded = await Promise.race([
      containerEnd.then(() => true),
      sleep(askEveryMs, false, { ref: false }),
    ])
    const state = await execState(connection, id)
    if (state.kind === 'ended') return state
    if (state.kind === 'refused' || state.kind === 'gone')
      return { kind: 'lost', failure: failureOf(state, 'unknown', 'the step was lost') }
    if (isEnded) await sleep(Math.min(200, 5 * (tries + 1)))
  }
}

const askEveryMs = 250

function stopped(
  container: Container,
  why: 'timed_out' | 'cancelled' | 'threw',
  problem: EngineRefusal | null,
): SandboxStepEnd {
  disarm(container)
  if (why !== 'timed_out') return { kind: 'cancelled' }
  if (problem === null || problem.kind === 'aborted') return { kind: 'timed_out' }
  return failed(failureOf(problem, 'unknown', 'the step took too long and cannot be ended'))
}

/** No step may leave a setuid or setgid program on the host. */
function disarm({ request }: Container): void {
  for (const path of [request.artifacts, ...request.caches.map(({ source }) => source)]) stripSetuid(path)
}

async function judge(
  container: Container,
  { exitCode, wasStarted }: Extract<ExecEnd, { kind: 'ended' }>,
  said: string,
  ooms: number | null,
): Promise<SandboxStepEnd> {
  const { memoryBytes } = container.request.limits
  if (ooms !== null && ooms > 0) return { kind: 'exceeded', limit: 'memory', bytes: memoryBytes }
  if (!wasStarted) return failed(startFailure(said, container.request.image))
  if (ooms === null && (exitCode === 0 || exitCode === 137))
    return failed({
      type: 'resource_exhaustion',
      message:
        'Processes of this machine were killed for lack of memory while the step ran, and the engine does not report whether they were its own.',
    })
  if (exitCode === 0) return { kind: 'exited', exitCode }
  const full = container.writable.find(isDiskFull)
  if (full !== undefined)
    return failed({ type: 'resource_exhaustion', message: `The disk with ${full} is full.` })
  const isKilled =
    container.first === null
      ? exitCode === 137 && container.spent === null && !(await isRunning(container))
      : container.events.killCount() > 0
  if (isKilled)
    return failed({ type: 'unknown', message: 'The container was killed from outside while the step ran.' })
  return { kind: 'exited', exitCode }
}

function startFailure(said: string, image: string): SandboxFailure {
  if (/executable file not found|no such file or directory/.test(said) && /"(?:\/bin\/)?sh"/.test(said))
    return { type: 'container_creation', message: noShell(image) }
  return failureOf(
    { kind: 'refused', status: 0, message: said.trim() },
    'unknown',
    'the step cannot be started',
  )
}

export function noShell(image: string): string {
  return `The image ${image} has no shell: steps are run by sh, so choose an image that has one.`
}

async function isRunning({ connection, name }: Container): Promise<boolean> {
  const inspected = await inspectContainer(connection, name)
  return inspected.kind === 'inspected' && inspected.isRunning
}

/**
 * Counts the processes killed for lack of memory from now on: the kernel's count where it can be read, else the engine's. The first
 * process of a container takes the kernel's count with it, but none was killed when the count of the whole machine is the same. null:
 * some were, and the engine does not report whose.
 */
function watchOoms({ cgroup, events, first }: Container): () => Promise<number | null> {
  const count = (): number => Math.max(cgroup?.oomKills() ?? 0, events.oomCount())
  const before = count()
  if (first === null || cgroup === null) return async () => count() - before
  const ofMachine = machineOomKills()
  return async () => {
    for (let tries = 0; machineOomKills() !== ofMachine; tries++) {
      if (events.oomCount() > 0) return events.oomCount()
      if (tries === 20) return null
      await sleep(50)
    }
    return events.oomCount()
  }
}

function failed(failure: SandboxFailure): Extract<SandboxStepEnd, { kind: 'failed' }> {
  return { kind: 'failed', failure }
}

/** The start of a step's output, in which the engine reports why it could not start one. */
function beginningOf(maxBytes: number): { add(content: Uint8Array): void; text(): string } {
  let kept = Buffer.alloc(0)
  return {
    add: (content) => {
      if (kept.length < maxBytes) kept = Buffer.concat([kept, content.subarray(0, maxBytes - kept.length)])
    },
    text: () => kept.toString('utf8'),
  }
}

const headerBytes = 8

/**
 * Splits the stream of an exec: each frame is a stream number, three zeros, a length in four bytes and that many bytes.
 * Chunks may be split anywhere. Content is passed on as it arrives, before a frame is complete.
 */
export function demultiplex(onContent: (content: Uint8Array) => void): (chunk: Uint8Array) => void {
  const header = new Uint8Array(headerBytes)
  let headerFilled = 0
  let contentLeft = 0
  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (contentLeft > 0) {
        const content = chunk.subarray(at, at + contentLeft)
        contentLeft -= content.length
        at += content.length
        onContent(content)
        continue
      }
      const part = chunk.subarray(at, at + headerBytes - headerFilled)
      header.set(part, headerFilled)
      headerFilled += part.length
      at += part.length
      if (headerFilled < headerBytes) return
      headerFilled = 0
      contentLeft = new DataView(header.buffer).getUint32(4)
    }
  }
}
