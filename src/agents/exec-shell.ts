import { cappedOutput, cappedText } from '../io/capped-output.ts'
import { type ExecRequest, type ExecResult, exec, shell } from '../io/exec.ts'
import type { SandboxStepEnd } from '../sandboxes/contract.ts'
import { quoteWord } from '../shell/quote-word.ts'
import type { AgentRequest } from './contract.ts'

/** Runs a shell command of an agent, in its sandbox if it has one. There, both streams are one. */
export async function execShell(
  sandbox: AgentRequest['sandbox'],
  command: string,
  request: Omit<ExecRequest, 'argv'>,
): Promise<ExecResult> {
  if (sandbox === undefined) return exec({ ...request, argv: shell(command) })
  const { cwd, env, timeoutMs = dayMs, maxOutputBytes = 1024 * 1024, onStdout } = request
  const startedMs = performance.now()
  const output = cappedOutput(maxOutputBytes)
  const end = await sandbox.run({
    command: `cd ${quoteWord(cwd)} || exit\n${command}`,
    ...{ env, timeoutMs, signal: request.signal ?? new AbortController().signal },
    output: (chunk) => {
      output.push(chunk)
      onStdout?.(chunk)
    },
  })
  const captured = (text: string) => ({ text, totalBytes: text.length, truncated: false })
  return {
    ...{ exitCode: null, signal: null, error: null, pid: null },
    ...endingOf(end),
    ...{ stdout: captured(cappedText(output)), stderr: captured('') },
    durationMs: performance.now() - startedMs,
  }
}

const dayMs = 86_400_000

function endingOf(end: SandboxStepEnd) {
  switch (end.kind) {
    case 'exited':
      return { ending: 'exited', exitCode: end.exitCode } as const
    case 'timed_out':
      return { ending: 'timed_out' } as const
    case 'cancelled':
      return { ending: 'aborted' } as const
    case 'exceeded':
      return { ending: 'signalled', signal: `its limit of ${end.limit}` } as const
    case 'failed':
      return { ending: 'not_started', error: end.failure.message } as const
  }
}
