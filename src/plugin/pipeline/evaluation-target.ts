import { resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { didYouMean } from '../../core/nearest.ts'
import { readMarketplace } from '../analyze/read-marketplace.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type Arm, arms } from '../contract.ts'

/** One plugin to evaluate, and the other plugins installed with it. */
export interface EvaluationTarget {
  /** Absolute. */
  readonly path: string
  /** Its name in the marketplace. */
  readonly name?: string
  /** Other plugins, absolute. */
  readonly crowd: readonly string[]
  readonly arms: readonly Arm[]
}

/** Which plugins are evaluated: the named one, one of a marketplace by name, or all of a marketplace. */
export async function evaluationTargets(
  config: PluginConfig,
  cwd: string,
): Promise<readonly EvaluationTarget[]> {
  const { plugin, marketplace, execution } = config
  const additional = execution.additional_plugins.map((path) => resolve(cwd, path))
  if (marketplace === undefined) {
    if (plugin?.path === undefined)
      throw new GantryError('USAGE', 'no plugin was given', {
        hint: 'Name its directory: gantry plugin run ./my-plugin',
      })
    return [target(resolve(cwd, plugin.path), additional, config)]
  }
  const market = await readMarketplace(resolve(cwd, marketplace.path))
  const local = [...new Set(market.plugins.flatMap(({ path }) => (path === null ? [] : [path])))]
  const listedName = (path: string): { readonly name?: string } => {
    const name = market.plugins.find((entry) => entry.path === path)?.name
    return name === undefined ? {} : { name }
  }
  const others = (own: string): readonly string[] => [
    ...new Set([...additional, ...local].filter((path) => path !== own)),
  ]
  if (marketplace.evaluate_all) {
    if (local.length === 0)
      throw new GantryError('NOT_FOUND', `no plugin of ${market.name} is on this machine`, {
        hint: 'Only sources with a relative path can be evaluated; check them out first.',
      })
    return local.map((path) => ({ ...target(path, others(path), config), ...listedName(path) }))
  }
  const own = plugin?.path === undefined ? null : resolve(cwd, plugin.path)
  const path = own ?? named(market, plugin?.name)
  return [{ ...target(path, others(path), config), ...listedName(path) }]
}

function named(market: Awaited<ReturnType<typeof readMarketplace>>, name: string | undefined): string {
  const names = market.plugins.map((entry) => entry.name)
  if (name === undefined)
    throw new GantryError('USAGE', 'a marketplace is given, but none of its plugins is chosen', {
      hint: `Name one with --plugin, or set marketplace.evaluate_all. It has: ${names.join(', ')}.`,
    })
  const found = market.plugins.find((entry) => entry.name === name)
  if (found?.path != null) return found.path
  const message = `the marketplace ${market.name} has no plugin '${name}' on this machine`
  throw new GantryError('NOT_FOUND', message, {
    hint: didYouMean(name, names, `It has: ${names.join(', ')}.`),
  })
}

function target(path: string, crowd: readonly string[], { execution }: PluginConfig): EvaluationTarget {
  const wanted: readonly Arm[] = execution.arms ?? (crowd.length > 0 ? ['alone', 'crowd'] : ['alone'])
  if (wanted.includes('crowd') && crowd.length === 0)
    throw new GantryError('USAGE', 'the arm crowd needs other plugins', {
      hint: 'Name them with --with-plugins, or give a --marketplace.',
    })
  return { path, crowd, arms: arms.filter((arm) => wanted.includes(arm)) }
}
