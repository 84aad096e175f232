import { claudeCodeHooks } from './claude-code/hook-config.ts'
import { codexHooks } from './codex/hook-config.ts'
import { copilotHooks } from './copilot/hook-config.ts'
import { cursorHooks } from './cursor/hook-config.ts'
import { geminiHooks } from './gemini/hook-config.ts'
import type { HookCodec, HookRegistration } from './hook-codec.ts'
import type { HookedAgent } from './hook-codecs.ts'
import type { HookInstaller } from './hook-installer.ts'
import { opencodeHooks } from './opencode/hook-config.ts'

const installers: Readonly<Record<HookedAgent, (events: readonly HookRegistration[]) => HookInstaller>> = {
  'claude-code': claudeCodeHooks,
  codex: codexHooks,
  gemini: geminiHooks,
  copilot: copilotHooks,
  cursor: cursorHooks,
  opencode: opencodeHooks,
}

export const installableAgents = Object.keys(installers) as readonly HookedAgent[]

/** What the codec understands is what is registered. */
export function hookInstallerOf(agent: HookedAgent, codec: Pick<HookCodec, 'events'>): HookInstaller {
  return installers[agent](codec.events)
}
