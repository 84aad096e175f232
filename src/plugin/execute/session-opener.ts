import type { AgentSession, SessionRequest } from '../../agents/contract.ts'
import { GantryError } from '../../core/error.ts'
import { claudeSettings } from './claude-settings.ts'
import type { ProcessSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

/** Throws GantryError USAGE for an agent that cannot be kept alive, or whose settings cannot be changed. */
export function sessionOpener(
  { agent, config }: Pick<ExecuteContext, 'agent' | 'config'>,
  settings: ProcessSettings,
): (request: SessionRequest) => Promise<AgentSession> {
  const driver =
    agent.driver.name === 'claude-code'
      ? agent.withSettings?.((own, base) => claudeSettings(own, base, config, settings))
      : undefined
  const open = driver?.openSession
  if (driver !== undefined && open !== undefined) return (request) => open.call(driver, request)
  throw new GantryError(
    'USAGE',
    `agent '${agent.name}' cannot try a plugin: its driver is ${agent.driver.name}`,
    {
      hint: 'Name an agent whose driver is claude-code in execution.agent.',
    },
  )
}
