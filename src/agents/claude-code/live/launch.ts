import type { CliLaunch, CliPlace } from '../../cli/contract.ts'
import type { SessionRequest } from '../../contract.ts'
import { launch } from '../launch.ts'
import type { ClaudeCodeConfig } from '../schema.ts'

/**
 * Has Claude Code keep copies of files before its own tools change them, in its HOME, so that `rewind` can put them back. Who
 * wants none gives `0` in the environment.
 */
const checkpointing = 'CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING'

/** As for one prompt, but prompts and control requests come as lines of JSON. The limit of turns is that of each prompt. */
export function liveLaunch(config: ClaudeCodeConfig, request: SessionRequest, place: CliPlace): CliLaunch {
  const { args, env, warnings = [] } = launch(config, { ...request, prompt: '' }, place)
  return {
    args: [...args, '--input-format', 'stream-json'],
    env: { ...env, ...(request.env[checkpointing] === undefined && { [checkpointing]: '1' }) },
    warnings,
  }
}
