"""Words of the reports in English and Spanish; one key per sentence, the same keys in both.

What belongs here: text for people. What does not: numbers, or text from logs.
"""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "es")

TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "title": "Audit of agent work",
        "mismatches": "Declared numbers that are false",
        "mismatches_note": "Both values are shown as they are; nothing was corrected. A person decides.",
        "no_mismatch": "Every declared number that could be recomputed agrees with its parts.",
        "hashes": "Outputs whose hash does not match their bytes",
        "unknown_hashes": "Declared hashes nobody could verify",
        "unverifiable": "Declared numbers nobody could verify",
        "unverifiable_note": "Unknown is not zero and not a pass.",
        "coverage": "What was read and checked",
        "coverage_note": "Records in = accepted + quarantined + blank + duplicates, in every file.",
        "not_used": "Files and records not used",
        "not_checkable": "Declared numbers for which the format offers no parts",
        "no_contract": "Rounds without a contract: {n} of {total}; their objective, scope and criteria are unknown.",
        "bad_contract": "Rounds whose contract is invalid",
        "summary": "{rounds} rounds, {files} files, {declared} declared numbers",
        "verdict_clean": "Clean: {match} numbers and {hash_match} hashes checked, all match.",
        "findings": "Other findings",
        "statuses": "Rounds",
        "verdict_findings": "Findings: false numbers {mismatch}, false hashes {hash_mismatch}, others {other}.",
        "verdict_blocked": "Blocked: {cannot_fail} of the checks that ran cannot fail, so they prove nothing.",
        "verdict_unknown": "Not everything could be verified: {unverifiable} numbers and {hash_unverifiable} hashes "
        "unverifiable, {unread} files not readable in full, {unknown_rounds} rounds without a certain verdict.",
        "verdict_nothing": "Nothing to check: the logs were read and declare no number.",
        "verdict_unchecked": "Nothing was checked: none of the {declared} declared numbers can be recomputed.",
        "verdict_empty": "Nothing was audited: no file of a supported kind was found.",
        "exit": "exit code {code}",
        "decision": "decision", "message": "message",
        "round": "round", "subject": "subject", "field": "field", "declared": "declared", "computed": "computed",
        "delta": "delta", "where": "where", "reason": "reason", "check": "check", "count": "count", "format": "format",
        "files": "files", "records": "records", "accepted": "accepted", "quarantined": "quarantined", "blank": "blank",
        "duplicates": "duplicates", "match": "match", "mismatch": "mismatch", "unknown": "unverifiable", "path": "path",
        "epsilon": "epsilon",
        "formula": "formula", "components": "component rows", "owner": "goes to", "fault": "fault", "step": "step",
        "evidence": "meaning", "unsure": "not established", "no_meaning": "this check is not in the catalogue",
        "tried": "explanations tried", "holds": "meets the declared number", "holds_not": "does not meet it",
        "holds_unknown": "unknown whether it meets it", "none_holds": "no explanation holds", "of_tried": "{n} tried",
        "no_excuse": "An explanation excuses nothing: the number stays flagged until a person decides.",
        "nobody_knows": "unknown",
        "proof": "Proof by mutation: {checks} checks that ran, {faulty} that cannot fail; catalogue sha256 {digest}",
        "case": "case", "state": "state", "open": "open", "acknowledged": "acknowledged", "resolved": "resolved",
        "overdue": "OVERDUE", "not_opened": "not opened by the pipeline yet", "held_by": "held by",
        "nobody": "nobody yet",
        "under_a_day": "less than a day", "one_day": "1 day", "days": "{n} days", "weeks": "{n} days ({m} weeks)",
        "months": "{n} days ({m} months)",
        "and_more": "and {n} more; --json lists all",
        "figure_checks": "Checks by format", "figure_records": "Records by format",
        "figure_values": "Declared against computed",
        "trajectories": "How the work of rounds spread",
        "trajectories_note": "S adds numbers of different units: how far a change spread, neither a risk nor a "
        "probability. A gap or a cross is unknown, never 0.",
        "cohort_note": "p: how extreme a round is among the comparable rounds before it, never how likely it is to be "
        "wrong. Bar: middle half of those rounds; line: 90 % of them; stroke: median; dot: this round.",
        "amplification_note": "Amplification: commits that touched a file, times files that use it. Nothing follows "
        "from it by itself.",
        "figure_surface": "Surface and evidence by step", "surface": "S, surface", "proven": "E, share proven",
        "surface_unknown": "S unknown", "proven_unknown": "E unknown",
        "figure_cohort": "Position among comparable rounds", "p_known": "{feature}: p = {p} among {n} rounds",
        "p_unknown": "{feature}: p unknown, {reason}",
        "feature_aus_round": "AUS, sum of S", "feature_largest_s": "largest S of a step",
        "feature_largest_h": "largest H of a step, nats", "feature_unproven_growth": "growth without evidence",
        "feature_rewrite_share": "share of lines rewritten", "feature_max_z": "largest robust z",
        "figure_amplification": "Change amplification of touched files", "before_round": "before", "after_round":
        "after", "outlier_region": "outliers begin here", "touched_file": "touched file", "signals": "signals",
        "steps_left_out": "{n} later steps are not drawn.", "units_left_out": "{n} more touched files are not shown.",
        "rounds_not_drawn": "{n} more rounds are not drawn here; `govern features plot` draws any.",
    },
    "es": {
        "title": "Auditoría del trabajo de agentes",
        "mismatches": "Números declarados que son falsos",
        "mismatches_note": "Se muestran ambos valores tal cual; nada se corrigió. Una persona decide cuál está mal.",
        "no_mismatch": "Todo número declarado que se pudo recalcular coincide con sus partes.",
        "hashes": "Salidas cuyo hash no corresponde a sus bytes",
        "unknown_hashes": "Hashes declarados que nadie pudo verificar",
        "unverifiable": "Números declarados que nadie pudo verificar",
        "unverifiable_note": "Desconocido no es cero ni es aprobado.",
        "coverage": "Qué se leyó y qué se comprobó",
        "coverage_note": "Registros leídos = aceptados + en cuarentena + en blanco + duplicados, en cada archivo.",
        "not_used": "Archivos y registros no usados",
        "not_checkable": "Números declarados para los que el formato no ofrece partes",
        "no_contract": "Rondas sin contrato: {n} de {total}; su objetivo, alcance y criterios son desconocidos.",
        "bad_contract": "Rondas con contrato inválido",
        "summary": "{rounds} rondas, {files} archivos, {declared} números declarados",
        "verdict_clean": "Limpio: {match} números y {hash_match} hashes comprobados, todos coinciden.",
        "findings": "Otros hallazgos",
        "statuses": "Rondas",
        "verdict_findings": "Hallazgos: números falsos {mismatch}, hashes falsos {hash_mismatch}, otros {other}.",
        "verdict_blocked": "Bloqueado: {cannot_fail} de las comprobaciones que corrieron no pueden fallar; "
        "lo que hallaron no prueba nada.",
        "verdict_unknown": "No todo se pudo verificar: {unverifiable} números y {hash_unverifiable} hashes no "
        "verificables, {unread} archivos no legibles por completo, {unknown_rounds} rondas sin veredicto cierto.",
        "verdict_nothing": "Nada que comprobar: se leyeron los registros y no declaran ningún número.",
        "verdict_unchecked": "No se comprobó nada: ninguno de los {declared} números declarados se puede recalcular.",
        "verdict_empty": "No se auditó nada: no se encontró ningún archivo de un tipo admitido.",
        "exit": "código de salida {code}",
        "decision": "decisión", "message": "mensaje",
        "round": "ronda", "subject": "sujeto", "field": "campo", "declared": "declarado", "computed": "calculado",
        "delta": "diferencia", "where": "dónde", "reason": "motivo", "check": "comprobación", "count": "cantidad",
        "format": "formato", "files": "archivos", "records": "registros", "accepted": "aceptados",
        "quarantined": "en cuarentena", "blank": "en blanco", "duplicates": "duplicados", "match": "coincide",
        "mismatch": "no coincide", "unknown": "no verificable", "path": "ruta",
        "epsilon": "épsilon", "formula": "fórmula",
        "components": "filas componentes", "owner": "se envía a", "fault": "falta", "step": "paso",
        "evidence": "significado", "unsure": "no establecido",
        "no_meaning": "esta comprobación no está en el catálogo",
        "tried": "explicaciones probadas", "holds": "alcanza el número declarado", "holds_not": "no lo alcanza",
        "holds_unknown": "no se sabe si lo alcanza", "none_holds": "ninguna explicación se cumple",
        "of_tried": "{n} probadas",
        "no_excuse": "Una explicación no excusa nada: el número sigue marcado hasta que una persona decida.",
        "nobody_knows": "desconocido",
        "proof": "Prueba por mutación: {checks} comprobaciones que corrieron, {faulty} que no pueden fallar; "
        "sha256 del catálogo {digest}",
        "case": "caso", "state": "estado", "open": "abierto", "acknowledged": "atendido", "resolved": "resuelto",
        "overdue": "VENCIDO", "not_opened": "aún no abierto por el proceso", "held_by": "a cargo de",
        "nobody": "nadie todavía", "under_a_day": "menos de un día", "one_day": "1 día", "days": "{n} días",
        "weeks": "{n} días ({m} semanas)", "months": "{n} días ({m} meses)",
        "and_more": "y {n} más; --json los lista todos",
        "figure_checks": "Comprobaciones por formato", "figure_records": "Registros por formato",
        "figure_values": "Declarado frente a calculado",
        "trajectories": "Hasta dónde se extendió el trabajo de las rondas",
        "trajectories_note": "S suma números de unidades distintas: hasta dónde llegó un cambio; no es un riesgo ni "
        "una probabilidad. Un hueco o una cruz es desconocido, nunca 0.",
        "cohort_note": "p: cuán extrema es una ronda entre las rondas comparables anteriores, nunca cuán probable es "
        "que esté mal. Barra: mitad central de esas rondas; línea: 90 %; trazo: mediana; punto: esta ronda.",
        "amplification_note": "Amplificación: commits que tocaron un archivo, por archivos que lo usan. De ella sola "
        "no se sigue nada.",
        "figure_surface": "Superficie y evidencia por paso", "surface": "S, superficie", "proven":
        "E, proporción probada", "surface_unknown": "S desconocida", "proven_unknown": "E desconocida",
        "figure_cohort": "Posición entre rondas comparables", "p_known": "{feature}: p = {p} entre {n} rondas",
        "p_unknown": "{feature}: p desconocido, {reason}",
        "feature_aus_round": "AUS, suma de S", "feature_largest_s": "mayor S de un paso",
        "feature_largest_h": "mayor H de un paso, nats", "feature_unproven_growth": "crecimiento sin evidencia",
        "feature_rewrite_share": "proporción de líneas reescritas", "feature_max_z": "mayor z robusto",
        "figure_amplification": "Amplificación de cambio de los archivos tocados", "before_round": "antes",
        "after_round": "después", "outlier_region": "aquí empiezan los atípicos", "touched_file": "archivo tocado",
        "signals": "señales", "steps_left_out": "No se dibujan {n} pasos posteriores.",
        "units_left_out": "No se muestran otros {n} archivos tocados.",
        "rounds_not_drawn": "Otras {n} rondas no se dibujan aquí; `govern features plot` dibuja cualquiera.",
    },
}  # fmt: skip


def words(language: Language) -> dict[str, str]:
    """Return the words of one language."""
    return TEXTS[language]
