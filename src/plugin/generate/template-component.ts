import type { Analysis } from '../analyze/contract.ts'
import { type AnyComponent, componentId } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type ComponentScenarios, type TemplateScenarios, typeCounts } from './component-record.ts'
import { commandTemplates } from './templates/command-templates.ts'
import { hookTemplates } from './templates/hook-templates.ts'
import { mcpTemplates } from './templates/mcp-templates.ts'
import { skillTemplates } from './templates/skill-templates.ts'

/** The scenarios of a component made from templates; null for one that needs a model. */
export function templateComponent(
  entry: AnyComponent,
  analysis: Pick<Analysis, 'components' | 'plugin_load_result'>,
  config: Pick<PluginConfig, 'execution' | 'mcp_servers'>,
): ComponentScenarios | null {
  const templates = templatesOf(entry, analysis, config)
  if (templates === null) return null
  const { scenarios, skipped, warnings = [] } = templates
  const { name } = entry.component
  return {
    scenarios,
    record: {
      component: componentId(entry.type, name),
      component_type: entry.type,
      name,
      origin: scenarios.length === 0 ? 'none' : 'template',
      asked: {},
      got: typeCounts(scenarios),
      dropped: [],
      repaired: [],
      ...(skipped !== undefined && { skipped }),
      usage: [],
      warnings: [...warnings],
    },
  }
}

function templatesOf(
  entry: AnyComponent,
  { components, plugin_load_result }: Pick<Analysis, 'components' | 'plugin_load_result'>,
  { execution, mcp_servers }: Pick<PluginConfig, 'execution' | 'mcp_servers'>,
): TemplateScenarios | null {
  switch (entry.type) {
    case 'skill':
      return skillTemplates(entry.component)
    case 'agent':
      return null
    case 'command':
      return commandTemplates(entry.component)
    case 'hook':
      return hookTemplates(entry.component, {
        components,
        cliTools: plugin_load_result?.loaded === true ? plugin_load_result.registered_tools : null,
        permissionBypass: execution.permission_bypass,
        allowedTools: execution.allowed_tools,
      })
    case 'mcp_server':
      return mcpTemplates(entry.component, { skipAuthRequired: mcp_servers.skip_auth_required })
  }
}
