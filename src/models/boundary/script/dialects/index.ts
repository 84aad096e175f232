import { builtin } from './builtin.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { Dialect } from './contract.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'

/** In the order in which they are tried: names that several agents use stand at the end. */
export const dialects: readonly Dialect[] = [claudeCode, copilot, codex, gemini, builtin, opencode]
