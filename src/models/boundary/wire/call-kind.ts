import type { CallKind, ModelCall } from '../contract.ts'
import type { WireRoute } from './contract.ts'

/** Prompts with which agents compact their history: Claude Code, Gemini CLI, Codex, opencode. */
const compactionMarks = [
  'Your task is to create a detailed summary',
  'distilling chat history into a structured XML <state_snapshot>',
  'performing a CONTEXT CHECKPOINT COMPACTION',
  'You are a context summarization agent',
]

/**
 * The purpose of a call. Only the system text and the messages since the last answer can mark a compaction: the same
 * text may occur anywhere in the history, and a tool result is not a request.
 */
export function callKind(route: WireRoute, call: Pick<ModelCall, 'system' | 'messages' | 'tools'>): CallKind {
  if (route.kind !== 'generate') return route.kind
  const spoken = call.messages.findLastIndex(({ role }) => role === 'assistant')
  const asked = call.messages.slice(spoken + 1).filter(({ role }) => role !== 'tool')
  const texts = [call.system, ...asked.map(({ text }) => text)]
  if (texts.some((text) => compactionMarks.some((mark) => text.includes(mark)))) return 'compaction'
  return call.tools.length === 0 ? 'side' : 'turn'
}
