import { createStreamParser as createClaudeCodeParser } from '../claude-code/stream.ts'
import { createStreamParser as createCodexParser } from '../codex/stream.ts'
import type { AgentRequest } from '../contract.ts'
import { createLineReader, createTextReader, type OutputReader } from '../process/output-reader.ts'
import type { CommandAgentConfig } from './schema.ts'
import { createStreamParser as createEventParser } from './stream.ts'

/** `onProgress` is called whenever turns or usage may have changed. */
export function createOutputReader(
  format: CommandAgentConfig['output'],
  emit: AgentRequest['emit'],
  onProgress: () => void,
): OutputReader {
  switch (format) {
    case 'text':
      return createTextReader(emit)
    case 'events':
      return createLineReader(createEventParser(), emit, onProgress)
    case 'claude-stream-json':
      return createLineReader(createClaudeCodeParser(), emit, onProgress)
    case 'codex-json':
      return createLineReader(createCodexParser(), emit, onProgress)
  }
}
