import type { Analysis, Components } from './contract.ts'

/** One map per type, by name, with the keys of the tool this format comes from. */
export function triggerUnderstanding(components: Components): Analysis['trigger_understanding'] {
  return {
    skills: byName(components.skills, ({ triggers, description }) => ({ triggers, description })),
    agents: byName(components.agents, ({ examples, description }) => ({ examples, description })),
    commands: byName(components.commands, ({ invocation, arguments: args }) => ({
      invocation,
      arguments: args,
    })),
    hooks: byName(components.hooks, ({ event, matcher, matching_tools, expected_behavior }) => ({
      eventType: event,
      matcher,
      matchingTools: matching_tools,
      expectedBehavior: expected_behavior,
    })),
    mcp_servers: byName(components.mcp_servers, ({ server_type, auth_required, env_vars, known_tools }) => ({
      serverType: server_type,
      authRequired: auth_required,
      envVars: env_vars,
      knownTools: known_tools,
    })),
  }
}

function byName<T extends { readonly name: string }>(
  items: readonly T[],
  understood: (item: T) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(items.map((item) => [item.name, understood(item)]))
}
