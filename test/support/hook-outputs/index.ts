import type { HookedAgent } from '../../../src/agents/hook-codecs.ts'
import { claudeCodeReaders } from './claude-code.ts'
import { codexReaders } from './codex.ts'
import type { HookReader } from './contract.ts'
import { copilotReaders } from './copilot.ts'
import { cursorReaders } from './cursor.ts'
import { geminiReaders } from './gemini.ts'
import { opencodeReaders } from './opencode.ts'

export const hookReaders: Readonly<Record<HookedAgent, readonly HookReader[]>> = {
  'claude-code': claudeCodeReaders,
  codex: codexReaders,
  gemini: geminiReaders,
  copilot: copilotReaders,
  cursor: cursorReaders,
  opencode: opencodeReaders,
}
