import { z } from 'zod'
import { type CappedOutput, cappedOutput, cappedText } from '../../../io/capped-output.ts'
import type { ExecResult } from '../../../io/exec.ts'
import type { Tool, ToolResult } from '../../../models/contract.ts'
import { execShell } from '../../exec-shell.ts'
import { stopNote } from '../../stop-note.ts'
import { defineTool, type ToolPlace } from './define-tool.ts'

const maxOutputBytes = 32 * 1024
const defaultTimeoutSecs = 120
const maxTimeoutSecs = 1_800

export function runTool({ workspace, env, sandbox }: ToolPlace): Tool {
  return defineTool({
    name: 'run',
    description:
      'Runs a shell command (sh) in the workspace and answers its output and exit code. Every command starts afresh there; what it leaves in the background is ended with it.',
    input: z.object({
      command: z.string().min(1),
      timeout_secs: z
        .int()
        .min(1)
        .max(maxTimeoutSecs)
        .default(defaultTimeoutSecs)
        .describe('After that it is stopped.'),
    }),
    run: async ({ command, timeout_secs }, signal) => {
      // One sink for both streams keeps their order.
      const output = cappedOutput(maxOutputBytes)
      const result = await execShell(sandbox, command, {
        cwd: workspace,
        env,
        timeoutMs: timeout_secs * 1_000,
        signal,
        maxOutputBytes: 0,
        onStdout: (chunk) => output.push(chunk),
        onStderr: (chunk) => output.push(chunk),
        endsWithUs: true,
      })
      return answerOf(result, output, timeout_secs)
    },
  })
}

function answerOf(result: ExecResult, output: CappedOutput, timeoutSecs: number): ToolResult {
  const text = cappedText(output)
  const { ending, exitCode } = result
  const isFailed = ending === 'exited' && exitCode !== 0
  const note = isFailed ? `[exit code ${exitCode}]` : stopNote(result, `${timeoutSecs} seconds`)
  const lineEnd = text === '' || text.endsWith('\n') || note === '' ? '' : '\n'
  return { output: text + lineEnd + note, isError: exitCode !== 0, ...(exitCode !== null && { exitCode }) }
}
