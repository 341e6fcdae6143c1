#[metric(gold = Ticket, pred = Reply)]
fn same(ticket: &Ticket, reply: &Reply) -> bool {
    ticket.kind == reply.kind
}

#[metric]
fn alike(ticket: &Ticket, #[pred] kind: &str) -> bool {
    ticket.kind == kind
}
