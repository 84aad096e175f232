import { loadProject, type Project } from '../config/load.ts'
import type { Case } from './case.ts'
import { discoverScenarios } from './discover.ts'
import { loadCase } from './load-case.ts'
import { type Selection, selectScenarios } from './select.ts'

/** The scenarios someone asked about, resolved and checked. Throws at the first that is broken. */
export async function loadScenarios(
  paths: readonly string[],
  selection: Selection,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<{ readonly project: Project; readonly cases: Case[] }> {
  const project = loadProject(cwd)
  const isSelected = selectScenarios(selection)
  const sources = (await discoverScenarios(paths, project, cwd)).filter(({ value }) => isSelected(value))
  return { project, cases: sources.map((source) => loadCase(source, { project, cwd, env })) }
}
