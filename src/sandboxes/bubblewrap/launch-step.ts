import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readTextIfExists } from '../../io/directory.ts'
import { type ExecResult, exec } from '../../io/exec.ts'
import { randomSuffix } from '../../io/ids.ts'
import type { StartPipe } from '../../io/open-pipe.ts'
import { readProcess } from '../../io/process-table.ts'
import type { SandboxFailure, SandboxStep, SandboxStepEnd } from '../contract.ts'
import { watchDisk } from '../disk-watch.ts'
import { isDiskFull, labelVariable } from '../state.ts'
import { launchFailure } from './failure.ts'
import { watchMemory } from './limits.ts'
import type { Prepared } from './prepare.ts'

/** A sandbox for one command. */
export type LaunchedStep = ReturnType<typeof launchStep>

/** Starts a sandbox at once, and the command in it with `run`. Without a pipe `run` must follow immediately. */
export function launchStep(
  prepared: Prepared,
  planned: Pick<SandboxStep, 'command' | 'env' | 'timeoutMs'>,
  startPipe: StartPipe | null,
) {
  const statusFile = join(prepared.state.directory, `status-${randomSuffix(8)}`)
  const killedBefore = prepared.cgroup?.oomKills() ?? 0
  const begun = Promise.withResolvers<void>()
  const stop = new AbortController()
  let output = (_chunk: Uint8Array): void => {}
  const argv = prepared.argvFor(planned, statusFile, { startPipe: startPipe?.path })
  const execution = argv && {
    result: exec({
      argv,
      cwd: '/',
      env: { [labelVariable]: prepared.state.label },
      timeoutMs: planned.timeoutMs,
      timeFrom: begun.promise,
      graceMs: 0,
      signal: AbortSignal.any([prepared.closed, stop.signal]),
      maxOutputBytes: 16_384,
      onStdout: (chunk) => output(chunk),
    }),
  }
  const ended = (execution?.result ?? Promise.resolve()).catch(() => {}).finally(() => startPipe?.close())
  return {
    /** Settles when no process is left, also of one that never ran. */
    ended,
    /** Waits until all processes have ended. */
    run: async (step: Pick<SandboxStep, 'output' | 'signal'>): Promise<SandboxStepEnd> => {
      if (execution === null)
        return failed('container_creation', 'the bubblewrap engine does not support this processor.')
      const { memoryBytes, diskBytes } = prepared.request.limits
      using _ = prepared.needsWatch
        ? watchMemory(
            () => statusIn(statusFile).firstPid,
            memoryBytes,
            () => stop.abort('memory'),
          )
        : null
      using disk = watchDisk(prepared.counted, diskBytes, () => stop.abort('disk'))
      const cancel = (): void => stop.abort('caller')
      if (step.signal.aborted) cancel()
      step.signal.addEventListener('abort', cancel)
      output = step.output
      begun.resolve()
      startPipe?.start()
      const result = await execution.result.finally(() => step.signal.removeEventListener('abort', cancel))
      const status = statusIn(statusFile)
      await gone(status.firstPid)
      const { reason } = stop.signal
      if (reason === 'memory' || (prepared.cgroup?.oomKills() ?? 0) > killedBefore)
        return { kind: 'exceeded', limit: 'memory', bytes: memoryBytes }
      if (reason === 'disk' || disk.isExceeded()) return { kind: 'exceeded', limit: 'disk', bytes: diskBytes }
      if (result.ending === 'timed_out') return { kind: 'timed_out' }
      if (result.ending === 'aborted') return { kind: 'cancelled' }
      if (status.exitCode === null) return { kind: 'failed', failure: engineFailure(result, status.firstPid) }
      if (status.exitCode !== 0) {
        const full = prepared.writable.find(isDiskFull)
        if (full !== undefined) return failed('resource_exhaustion', `the disk with ${full} is full.`)
      }
      return { kind: 'exited', exitCode: status.exitCode }
    },
  }
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
