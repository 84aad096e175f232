import { sha256 } from '../../../io/sha256.ts'
import type { SetupMessage } from '../../generate/contract.ts'

/** A conversation in the form in which Claude Code keeps one and can go on with it. The same words give the same file. */
export function historyFile(messages: readonly SetupMessage[]): string {
  const sessionId = idOf(JSON.stringify(messages))
  const ids = messages.map((_, index) => idOf(`${sessionId} ${index}`))
  const lines = messages.map(({ role, content }, index) => ({
    parentUuid: ids[index - 1] ?? null,
    isSidechain: false,
    sessionId,
    timestamp: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString(),
    type: role,
    message: { role, content: role === 'user' ? content : [{ type: 'text', text: content }] },
    uuid: ids[index],
  }))
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

function idOf(text: string): string {
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(sha256(text)) ?? []
  return `${a}-${b}-4${c}-8${d}-${e}`
}
