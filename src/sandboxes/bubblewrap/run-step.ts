import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readTextIfExists } from '../../io/directory.ts'
import { type ExecResult, exec } from '../../io/exec.ts'
import { randomSuffix } from '../../io/ids.ts'
import { readProcess } from '../../io/process-table.ts'
import type { SandboxFailure, SandboxStep, SandboxStepEnd } from '../contract.ts'
import { watchDisk } from '../disk-limit.ts'
import { isDiskFull, labelVariable } from '../state.ts'
import { launchFailure } from './failure.ts'
import { watchMemory } from './limits.ts'
import type { Prepared } from './prepare.ts'

/** Starts a sandbox for one command and waits until all its processes have ended. */
export async function runStep(prepared: Prepared, step: SandboxStep): Promise<SandboxStepEnd> {
  const { memoryBytes, diskBytes } = prepared.request.limits
  const statusFile = join(prepared.state.directory, `status-${randomSuffix(8)}`)
  const tooMuch = new AbortController()
  const killedBefore = prepared.cgroup?.oomKills() ?? 0
  using _ = prepared.needsWatch
    ? watchMemory(
        () => statusIn(statusFile).firstPid,
        memoryBytes,
        () => tooMuch.abort(),
      )
    : null
  const tooFull = new AbortController()
  using disk = watchDisk(prepared.counted, diskBytes, () => tooFull.abort())
  const argv = prepared.argvFor(step, statusFile)
  if (argv === null)
    return failed('container_creation', 'the bubblewrap engine does not support this processor.')
  const result = await exec({
    argv,
    cwd: '/',
    env: { [labelVariable]: prepared.state.label },
    timeoutMs: step.timeoutMs,
    graceMs: 0,
    signal: AbortSignal.any([step.signal, prepared.closed, tooMuch.signal, tooFull.signal]),
    maxOutputBytes: 16_384,
    onStdout: step.output,
  })
  const status = statusIn(statusFile)
  await gone(status.firstPid)
  if (tooMuch.signal.aborted || (prepared.cgroup?.oomKills() ?? 0) > killedBefore)
    return { kind: 'exceeded', limit: 'memory', bytes: memoryBytes }
  if (tooFull.signal.aborted || disk.isExceeded())
    return { kind: 'exceeded', limit: 'disk', bytes: diskBytes }
  if (result.ending === 'timed_out') return { kind: 'timed_out' }
  if (result.ending === 'aborted') return { kind: 'cancelled' }
  if (status.exitCode === null) return { kind: 'failed', failure: engineFailure(result, status.firstPid) }
  if (status.exitCode !== 0) {
    const full = prepared.writable.find(isDiskFull)
    if (full !== undefined) return failed('resource_exhaustion', `the disk with ${full} is full.`)
  }
  return { kind: 'exited', exitCode: status.exitCode }
}

function engineFailure(
  { ending, error, signal, stderr }: ExecResult,
  firstPid: number | null,
): SandboxFailure {
  if (ending === 'not_started') return launchFailure(error ?? '')
  if (ending === 'signalled' && (firstPid !== null || stderr.text === ''))
    return { type: 'unknown', message: `bubblewrap was killed by ${signal} from outside while the step ran.` }
  return launchFailure(stderr.text)
}

function failed(type: SandboxFailure['type'], message: string): SandboxStepEnd {
  return { kind: 'failed', failure: { type, message } }
}

interface Status {
  /** The first process in the sandbox, by its pid on the host. */
  readonly firstPid: number | null
  /** null until the command was started and has ended. */
  readonly exitCode: number | null
}

function statusIn(file: string): Status {
  const text = readTextIfExists(file) ?? ''
  const number = (name: string): number | null => {
    const found = new RegExp(`"${name}": (\\d+)`).exec(text)?.[1]
    return found === undefined ? null : Number(found)
  }
  return { firstPid: number('child-pid'), exitCode: number('exit-code') }
}

/** The first process of a pid namespace ends only after all others in it. */
async function gone(pid: number | null): Promise<void> {
  const first = pid === null ? null : readProcess(pid)
  if (pid === null || first === null) return
  for (const until = performance.now() + stuckMs; performance.now() < until; await sleep(2)) {
    const now = readProcess(pid)
    if (now?.startTicks !== first.startTicks || !now.runsProgram) return
  }
}

/** Only a process that hangs in the kernel takes so long, or one that reuses its pid. */
const stuckMs = 5_000
