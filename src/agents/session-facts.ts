import { asObjects, asString } from '../core/json-fields.ts'

export interface SessionFacts {
  readonly agent: 'claude-code' | 'codex' | 'guard'
  readonly cwd: string
  /** ISO 8601. */
  readonly startedAt: string
  /** The commit at the start, where it is recorded. */
  readonly commit: string | null
  /** What the user wrote, in order. */
  readonly prompts: readonly string[]
  /** In order. */
  readonly commands: readonly SessionCommand[]
  /** Files as they were before the agent first touched them, by absolute path, where that is recorded. null: not there. */
  readonly originals: ReadonlyMap<string, string | null>
}

export interface SessionCommand {
  readonly command: string
  /** Where it ran; absolute. */
  readonly cwd: string
  /** null: unknown. */
  readonly exitCode: number | null
}

/** The text of a message whose content is a text or a list of parts. */
export function messageText(content: unknown, partTypes: readonly string[]): string {
  if (typeof content === 'string') return content
  return asObjects(content)
    .filter(({ type }) => partTypes.includes(asString(type) ?? ''))
    .map(({ text }) => asString(text) ?? '')
    .join('\n')
}
