import { relative } from 'node:path'
import { compilePattern, escapePattern } from '../../core/pattern.ts'
import { globOf } from '../../guard-engine/glob-of.ts'
import type { SimulatedEvent } from './contract.ts'

/** The `if` of a handler: one permission rule, `Bash(git push *)`, `Edit(src/**)`, `mcp__memory__*`. */
interface ToolRule {
  readonly tool: string
  readonly pattern: string | null
}

/** Whether the call of a tool event matches the rule. In doubt it does, as in the CLI. */
export function ruleFits(rule: string, { payload }: SimulatedEvent): boolean {
  const { tool, pattern } = readRule(rule)
  const name = String(payload.tool_name ?? '')
  const isMeant = covered(tool).includes(name) || (tool.includes('*') && globOf(tool)?.(name) === true)
  if (!isMeant || pattern === null) return isMeant
  const input = payload.tool_input
  if (typeof input !== 'object' || input === null) return true
  const { command, file_path, notebook_path } = input as Readonly<Record<string, unknown>>
  if (typeof command === 'string') return commandFits(pattern, command)
  const path = file_path ?? notebook_path
  return typeof path !== 'string' || pathFits(pattern, path, String(payload.cwd ?? ''))
}

/** An example call that matches the rule, made from its text. null when that is not possible. */
export function ruleExample(
  rule: string,
  workspace: string,
): { tool: string; input: Record<string, unknown> } | null {
  const { tool, pattern } = readRule(rule)
  if (tool === '' || tool.includes('*')) return null
  const words = (pattern ?? '*').replace(/:\*$/, ' x').replaceAll(/\*+/g, 'x')
  if (tool === 'Bash' || tool === 'PowerShell')
    return { tool, input: { command: words, description: 'by the rule' } }
  const path = words.startsWith('/')
    ? words.replace(/^\/+/, '/')
    : `${workspace}/${words.replace(/^\.\//, '')}`
  return {
    tool,
    input:
      tool === 'NotebookEdit' ? { notebook_path: path, new_source: 'x' } : { file_path: path, content: 'x' },
  }
}

function readRule(rule: string): ToolRule {
  const [, tool = rule, pattern] = /^([^(]*)(?:\(([\s\S]*)\))?$/.exec(rule.trim()) ?? []
  return { tool: tool.trim(), pattern: pattern === undefined || pattern === '*' ? null : pattern }
}

/** A rule about editing is about every tool that edits, one about reading about every tool that reads. */
function covered(tool: string): readonly string[] {
  if (tool === 'Edit') return ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']
  return tool === 'Read' ? ['Read', 'Grep', 'Glob'] : [tool]
}

/** Of a compound command one part is enough. `git:*` is the older way to write `git *`. */
function commandFits(pattern: string, command: string): boolean {
  const parts = command.split(/&&|\|\||[;|\n]/).map((part) => part.trim())
  const isPrefix = pattern.endsWith(':*')
  const words = isPrefix ? pattern.slice(0, -2) : pattern
  const source = `^${words.split('*').map(escapePattern).join('.*')}${isPrefix ? '(?:\\s|$)' : '$'}`
  const compiled = compilePattern(`(?s)${source}`)
  return compiled.kind === 'bad' || parts.some((part) => compiled.pattern.test(part))
}

function pathFits(pattern: string, path: string, cwd: string): boolean {
  const fits = globOf(pattern.replace(/^\/\//, '/').replace(/^\.\//, ''))
  return fits === null || fits(path) || fits(relative(cwd, path))
}
