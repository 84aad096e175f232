import type { CallKind, ModelCall } from '../contract.ts'
import type { WireRoute } from './contract.ts'

/** Words by which agents ask for their history to be summed up: Claude Code, Gemini CLI, Codex, opencode. */
const compactionMarks = [
  'Your task is to create a detailed summary',
  'distilling chat history into a structured XML <state_snapshot>',
  'performing a CONTEXT CHECKPOINT COMPACTION',
  'You are a context summarization agent',
]

/**
 * What a call is for. Only what was said since the model spoke last, and the system text, tell of a compaction: the words
 * may stand anywhere in a history, and the result of a tool is nobody's request.
 */
export function callKind(route: WireRoute, call: Pick<ModelCall, 'system' | 'messages' | 'tools'>): CallKind {
  if (route.kind !== 'generate') return route.kind
  const spoken = call.messages.findLastIndex(({ role }) => role === 'assistant')
  const asked = call.messages.slice(spoken + 1).filter(({ role }) => role !== 'tool')
  const texts = [call.system, ...asked.map(({ text }) => text)]
  if (texts.some((text) => compactionMarks.some((mark) => text.includes(mark)))) return 'compaction'
  return call.tools.length === 0 ? 'side' : 'turn'
}
