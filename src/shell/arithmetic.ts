/** The value of an arithmetic expression of whole numbers and known names; null when it has more in it. */
export function arithmetic(text: string, known: (name: string) => string | undefined): number | null {
  if (text.length > 200) return null
  const tokens = text.match(/\d+|[A-Za-z_]\w*|\*\*|[-+*/%()]|\S/g) ?? []
  let at = 0
  const value = sum()
  return at === tokens.length && value !== null && Number.isSafeInteger(value) ? value : null

  function sum(): number | null {
    let total = product()
    while (tokens[at] === '+' || tokens[at] === '-') {
      const operator = tokens[at]
      at += 1
      const next = product()
      total = total === null || next === null ? null : operator === '+' ? total + next : total - next
    }
    return total
  }

  function product(): number | null {
    let total = single()
    while (tokens[at] === '*' || tokens[at] === '/' || tokens[at] === '%') {
      const operator = tokens[at]
      at += 1
      const next = single()
      if (total === null || next === null || (operator !== '*' && next === 0)) total = null
      else
        total = operator === '*' ? total * next : operator === '/' ? Math.trunc(total / next) : total % next
    }
    return total
  }

  function single(): number | null {
    const token = tokens[at]
    at += 1
    if (token === undefined) return null
    if (token === '-' || token === '+') {
      const value = single()
      return value === null ? null : token === '-' ? -value : value
    }
    if (token === '(') {
      const value = sum()
      if (tokens[at] !== ')') return null
      at += 1
      return value
    }
    if (/^\d/.test(token)) return Number(token)
    const value = known(token)
    return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : null
  }
}
