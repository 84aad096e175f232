import { z } from 'zod'
import { type CappedOutput, cappedOutput, cappedText } from '../../../io/capped-output.ts'
import { type ExecResult, exec, shell } from '../../../io/exec.ts'
import type { Tool, ToolResult } from '../../../models/contract.ts'
import { defineTool, type ToolPlace } from './define-tool.ts'

const maxOutputBytes = 32 * 1024
const defaultTimeoutSecs = 120
const maxTimeoutSecs = 1_800

export function runTool({ workspace, env }: ToolPlace): Tool {
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
      // One for both streams, so that their order is kept.
      const output = cappedOutput(maxOutputBytes)
      const result = await exec({
        argv: shell(command),
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
  const note = noteOn(result, timeoutSecs)
  const lineEnd = text === '' || text.endsWith('\n') || note === '' ? '' : '\n'
  return {
    output: text + lineEnd + note,
    isError: result.exitCode !== 0,
    ...(result.exitCode !== null && { exitCode: result.exitCode }),
  }
}

function noteOn({ ending, exitCode, signal, error }: ExecResult, timeoutSecs: number): string {
  switch (ending) {
    case 'exited':
      return exitCode === 0 ? '' : `[exit code ${exitCode}]`
    case 'signalled':
      return `[killed by ${signal}]`
    case 'timed_out':
      return `[stopped after ${timeoutSecs} seconds]`
    case 'aborted':
      return '[stopped]'
    case 'not_started':
      return `[not started: ${error}]`
  }
}
