import { z } from 'zod'
import { compilePattern } from '../core/pattern.ts'

/** Keys that several gates share, with the texts that become descriptions in the JSON Schema. */

export const description = z
  .string()
  .regex(/\S/, 'the description is empty')
  .optional()
  .describe('What the gate proves, shown in front of its message.')

export const command = z
  .string()
  .regex(/\S/, 'the command is empty')
  .describe('Shell command, run by `sh -c` in the workspace.')

export const timeoutSecs = z
  .number()
  .positive()
  .max(86_400)
  .default(30)
  .describe('Time limit of the command in seconds; after it the gate fails.')

export const expectExit = z
  .int()
  .min(0)
  .max(255)
  .optional()
  .describe('Exit code the command must have. Without it any exit code will do: only stdout is judged.')

export const substring = z.string().min(1).describe('Text to find literally.')

export const pattern = z
  .string()
  .min(1)
  .superRefine((source, context) => {
    const compiled = compilePattern(source)
    if (compiled.kind === 'ok') return
    const message = [compiled.message, compiled.hint].filter((part) => part !== undefined).join('. ')
    context.addIssue({ code: 'custom', message: `the pattern is invalid: ${message}` })
  })
  .describe(
    'Regular expression in RE2 syntax, found anywhere in the text; flags inline: (?i) any case, (?m) lines, (?s) dot matches newline.',
  )

export const workspacePath = z
  .string()
  .min(1)
  .superRefine((path, context) => {
    const problem = pathProblem(path)
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  })
  .describe('Path relative to the workspace, never leading out of it.')

function pathProblem(path: string): string | null {
  if (path.includes('\0')) return 'the path contains a NUL byte'
  if (/^([/\\]|[A-Za-z]:[/\\])/.test(path))
    return `the path '${path}' is absolute; it must be relative to the workspace`
  if (path.split(/[/\\]/).includes('..')) return `the path '${path}' must not contain ".."`
  return null
}
