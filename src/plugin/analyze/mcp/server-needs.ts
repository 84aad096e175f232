import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import type { McpServerComponent } from '../contract.ts'
import type { Notes, Remark } from '../notes.ts'

/** What a server wants from its surroundings: variables, and whether it lets anybody in. */
export function serverNeeds(config: JsonObject): Pick<McpServerComponent, 'auth_required' | 'env_vars'> {
  const keys = Object.keys(asObject(config.env) ?? {})
  const headers = Object.keys(asObject(config.headers) ?? {})
  const referred = referredVariables(config)
  return {
    auth_required:
      [...keys, ...headers, ...referred].some((key) => opensDoors.test(key)) ||
      asObject(config.oauth) !== null,
    env_vars: [...new Set([...keys, ...referred])],
  }
}

const opensDoors = /TOKEN|KEY|SECRET|AUTH|PASSWORD|CREDENTIAL/i

/** Claude Code sets these itself. */
const given = ['CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA', 'CLAUDE_PROJECT_DIR']

function referredVariables(config: JsonObject): readonly string[] {
  const words = [
    config.command,
    config.url,
    ...(Array.isArray(config.args) ? config.args : []),
    ...Object.values(asObject(config.env) ?? {}),
    ...Object.values(asObject(config.headers) ?? {}),
  ].filter((word) => typeof word === 'string')
  const names = words.flatMap((word) => [...word.matchAll(reference)].map((match) => match[1] ?? ''))
  return names.filter((name) => !given.includes(name))
}

/** `${VAR}` and `${VAR:-default}`; `${user_config.x}` is asked of the user, not of the environment. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g

/** Says so when something that opens doors stands in the file as it is. Its value is not repeated. */
export function noteSecrets(
  config: JsonObject,
  about: Pick<Remark, 'components' | 'path' | 'line'>,
  notes: Notes,
): void {
  for (const part of ['env', 'headers'] as const)
    for (const [key, value] of Object.entries(asObject(config[part]) ?? {}))
      if (opensDoors.test(key) && typeof value === 'string' && value.length >= 8 && !value.includes('${'))
        notes.add('MCP_SECRET_IN_FILE', {
          message: `${key} of ${part} stands in the file, where everybody who has the plugin can read it`,
          suggestion: `Write "\${${key.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()}}", and set the variable outside.`,
          ...about,
        })
}
